"""A command as whoever sent it may look at it again."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.inputs import Operation
from schemas.times import Time

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
