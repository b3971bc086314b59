"""Help: programs ask people, and wait for their answer."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http.queries import IntegerText, NullText, Page, PageQuery, Query
from schemas.values.scalars import MachineId, Note
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_OPEN_OF_MACHINE: Final = 20
MOST_OPEN: Final = 1_000
"""Of one organization."""

DEFAULT_SECONDS: Final = 3_600
LONGEST_SECONDS: Final = 30 * 24 * 3_600
LONGEST_WAIT: Final = 60
KEPT_DAYS: Final = 30
"""For so long one is kept that has ended."""

HelpKind = Literal["help", "approval"]

HelpState = Literal["open", "answered", "withdrawn", "timed_out"]

HelpAnswer = Literal["done", "cannot", "approve", "deny"]

ANSWERS: Final[dict[HelpKind, tuple[HelpAnswer, ...]]] = {
    "help": ("done", "cannot"),
    "approval": ("approve", "deny"),
}
"""What may be answered to each kind."""


class NewHelp(StrictModel):
    """The body of ``POST /v1/help``."""

    machine_id: MachineId = Field(description="Which machine it is about.")
    kind: HelpKind = Field(
        description="help: somebody is to do something there, and answers done or cannot.  "
        "approval: somebody is to say whether the program may go on: approve or deny."
    )
    reason: Note = Field(
        description="What is to be done or decided, for whoever answers.  No passwords: everybody "
        "who sees the machine can read it."
    )
    timeout: Annotated[int, Field(strict=True, ge=1, le=LONGEST_SECONDS)] = Field(
        DEFAULT_SECONDS, description="After so many seconds without an answer it has ended."
    )


class NewHelpAnswer(StrictModel):
    """The body of ``POST /v1/help/{help_id}/answer``."""

    answer: HelpAnswer = Field(description="done or cannot to help; approve or deny to approval.")
    comment: Note | None = Field(None, description="For the program, and whoever reads it later.")


class HelpRequest(BaseModel):
    """What a program asks people, and what became of it."""

    id: UUID
    machine_id: str
    kind: HelpKind
    reason: str
    state: HelpState
    created_at: Time
    expires_at: Time = Field(description="When it ends if nobody answers.")
    by: str = Field(description="The name of the token that asks.")
    run_id: UUID | None = Field(None, description="The run that is halted and asks.")
    answer: HelpAnswer | None
    comment: str | None
    answered_by: str | None = Field(description="The name of the token that answered.")
    ended_at: Time | None


class HelpPage(Page[HelpRequest]):
    """A page of help requests, newest first."""


class HelpListQuery(PageQuery):
    """The query of ``GET /v1/help``."""

    machine_id: Annotated[MachineId | None, NullText] = Field(
        None, description="Only those about this machine."
    )
    state: Annotated[HelpState | None, NullText] = Field(
        None, description="Only those in this state."
    )


class HelpQuery(Query):
    """The query of ``GET /v1/help/{help_id}``."""

    wait: Annotated[int, Field(ge=0, le=LONGEST_WAIT), IntegerText] = Field(
        0, description="While it is open, answer only once it has ended, or after so many seconds."
    )
