"""A command as whoever sent it may look at it again."""

from typing import Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http.queries import Page
from schemas.inputs.bodies import Operation
from schemas.values.times import Time

BY_HAND: Final = "hand"
"""What the operation of a stretch of work by hand is called in a list of inputs."""

CommandStateName = Literal["claimed", "sent", "done", "not_carried_out", "unknown"]


class CommandAnswer(BaseModel):
    """The answer that every request with the command's key gets."""

    status: int
    body: Any = Field(None, description="As JSON; null where the answer has no body.")


class CommandView(BaseModel):
    """What the server knows of a command, and so what became of its input."""

    command_id: UUID
    machine_id: str
    operation: Operation
    state: CommandStateName = Field(
        description="claimed: nothing was sent; sent: not known yet; the others are final."
    )
    final: bool = Field(description="Whether this never changes any more.")
    accepted_at: Time
    expires_at: Time = Field(description="It does not begin after this.")
    final_at: Time | None
    answer: CommandAnswer | None = Field(description="Null as long as it is not final.")


CommandOutcomeName = Literal[
    "completed", "failed", "refused", "stopped", "expired", "not_carried_out", "unknown", "pending"
]


class CommandItem(BaseModel):
    """An input in a list: who sent what, when and how it ended; never what was typed.

    A stretch of work by hand is one item for all of its inputs.
    """

    command_id: UUID = Field(description="Of work by hand, its id in the audit.")
    operation: Operation | Literal["hand"] = Field(
        description="hand is a stretch of work by hand, of which note says more."
    )
    token_name: str | None = Field(description="Of who sent it.")
    token_id: UUID | None
    accepted_at: Time
    completed_at: Time | None = Field(description="Null while the outcome is pending.")
    outcome: CommandOutcomeName
    code: str | None = Field(description="The machine's own word for what was wrong.")
    duration_ms: float | None = Field(description="The machine's own time spent injecting.")
    inputs: int = Field(
        1,
        description="As how many it is counted: of work by hand, its clicks, keys and the like; "
        "of several actions, the inputs that were begun.",
    )
    note: str | None = Field(
        None, description="What was done by hand, or by several actions, in words."
    )


class CommandPage(Page[CommandItem]):
    """A page of a machine's inputs, newest first."""

    total: int = Field(description="Counted to 100000, which then means so many or more.")
