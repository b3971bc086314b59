"""The audit: who did what, to what and when."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http import queries
from schemas.resources.commands import CommandItem
from schemas.values.csv_lines import csv_line
from schemas.values.scalars import Fitting, MachineId, Name
from schemas.values.times import Time

INPUT_FAMILY: Final = "input"

CSV_COLUMNS: Final = (
    *("created_at", "action", "token_name", "token_id", "machine_id", "target", "target_name"),
    *("note", "outcome", "code", "duration_ms", "completed_at", "role", "scopes", "request_id"),
    "id",
)
"""What a table of entries has of each, in this order."""

ActionName = Annotated[
    str,
    Fitting(
        r"[a-z_]{1,32}(\.[a-z_]{1,32}){0,2}",
        "must be an action such as machine.paused, or a family of them such as machine",
    ),
]


class AuditFilter(queries.Query):
    """Which entries are wanted; all that are given must hold."""

    machine_id: Annotated[MachineId | None, queries.NullText] = None
    token_id: queries.NullableUuid = Field(None, description="Who did it.")
    token_name: Annotated[Name | None, queries.NullText] = Field(
        None, description="Who did it, by name: with any token of exactly this one."
    )
    action: Annotated[ActionName | None, queries.NullText] = Field(
        None, description="Such as machine.paused; machine is all of these, input every input."
    )
    created_at_from: queries.NullableTimeFrom = Field(None, description="At or after this time.")
    created_at_to: queries.NullableTime = Field(None, description="At or before this time.")


class AuditQuery(AuditFilter, queries.PageQuery):
    """Which entries are wanted, and which part of them."""


class Grant(BaseModel):
    """What a token allowed then."""

    role: str | None = Field(description="null where its scopes were named one by one.")
    scopes: list[str]


class AuditEntry(BaseModel):
    """Something that was done."""

    id: str
    created_at: Time = Field(description="When; for an input, when it was accepted.")
    action: str = Field(description="Such as machine.paused or input.mouse.click.")
    token_id: UUID | None = Field(description="Who: the token, which may be revoked by now.")
    token_name: str | None
    target: str | None = Field(description="The id of what it was done to.")
    target_name: str | None = Field(
        None, description="What that was called then: of tokens, sessions and organizations."
    )
    grant: Grant | None = Field(
        None,
        description="What the token allowed, where it was done to a token, or a session began or "
        "ended with it.  The entry keeps this when the token is gone.",
    )
    machine_id: str | None
    request_id: str = Field(description="As in X-Request-Id and in the server's log.")
    note: str | None = Field(
        None,
        description="What whoever did it wrote about it; of a stretch, how much was done in it, "
        '"so far" while it goes on.',
    )
    command: CommandItem | None = Field(
        description="What became of it, for an input, and for work by hand."
    )


class AuditPage(queries.Page[AuditEntry]):
    """A page of entries, newest first."""

    total: int = Field(description="Counted to 100000, which then means so many or more.")


def csv_line_of(entry: Mapping[str, Any]) -> str:
    """An entry, as its JSON has it, as a line of a table with CSV_COLUMNS."""
    facts = {**(entry["command"] or {}), **(entry["grant"] or {}), **entry}
    facts["scopes"] = " ".join(facts.get("scopes", ()))
    return csv_line(facts.get(column) for column in CSV_COLUMNS)
