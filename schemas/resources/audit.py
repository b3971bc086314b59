"""The audit: who did what, to what and when."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http import queries
from schemas.resources.commands import CommandItem
from schemas.values.scalars import Fitting, MachineId
from schemas.values.times import Time

INPUT_FAMILY: Final = "input"

ActionName = Annotated[
    str,
    Fitting(
        r"[a-z_]{1,32}(\.[a-z_]{1,32}){0,2}",
        "must be an action such as machine.paused, or a family of them such as machine",
    ),
]


class AuditQuery(queries.PageQuery):
    """Which entries are wanted; all that are given must hold."""

    machine_id: Annotated[MachineId | None, queries.NullText] = None
    token_id: queries.NullableUuid = Field(None, description="Who did it.")
    action: Annotated[ActionName | None, queries.NullText] = Field(
        None, description="Such as machine.paused; machine is all of these, input every input."
    )
    created_at_from: queries.NullableTimeFrom = Field(None, description="At or after this time.")
    created_at_to: queries.NullableTime = Field(None, description="At or before this time.")


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
        description="What whoever did it wrote about it; of work by hand, how much was done.",
    )
    command: CommandItem | None = Field(
        description="What became of it, for an input or work by hand."
    )


class AuditPage(queries.Page[AuditEntry]):
    """A page of entries, newest first."""

    total: int = Field(description="Counted to 100000, which then means so many or more.")
