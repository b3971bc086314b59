"""Runs as they are answered, and told."""

from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.http.queries import Page
from schemas.inputs.pictures import Area
from schemas.steps.reviews import ContentHash
from schemas.values.pictures import PictureId
from schemas.values.times import Time

MOST_STEPS: Final = 1_000
"""Of one run."""

MOST_WAITING_OF_MACHINE: Final = 1_000
MOST_WAITING: Final = 10_000
"""Of one organization, on whichever machines."""

KEPT_DAYS: Final = 90
"""For so long a run is kept that has ended."""

RunStatus = Literal[
    "scheduling",
    "running",
    "running_checks",
    "success",
    "task_failed",
    "error",
    "cancelled",
]
"""How far a run has come.

``scheduling``: it waits for its turn on a machine.  ``running``: it is at a step, or halted.
``running_checks``: what the screen is to show once a step is done is awaited.  The others are ends:
``task_failed`` where somebody gave up a step that could not be done, ``error`` where the run itself
could not go on, such as one whose content has changed.
"""

ENDED: Final[tuple[RunStatus, ...]] = ("success", "task_failed", "error", "cancelled")

StepStatus = Literal["done", "skipped"]


class RunModel(BaseModel):
    """What is read from stored documents as well."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Candidate(RunModel):
    """A place at which what a step was done to may be."""

    at: Area | None = Field(None, description="Where it is, if that is known.")
    score: float = Field(description="How much it is like what was recorded, 0 to 1.")
    text: str | None = Field(None, description="What it is, for a person.")


class Halted(RunModel):
    """Why a run does not go on, and what a person needs to know to help."""

    step: int = Field(ge=1, description="The number of the step.")
    reason: str = Field(description="For a program, such as missing or taken_over.")
    detail: str = Field(description="For a person.")
    at: Time
    picture: PictureId | None = Field(None, description="What the screen showed.")
    candidates: tuple[Candidate, ...] = ()
    is_done: bool = Field(
        False, description="Whether the step's input was done: then it is never done again."
    )
    is_unknown: bool = Field(
        False,
        description="Whether nobody knows if the step's input was done: somebody has to decide.",
    )
    help_id: UUID | None = Field(None, description="The help request about it.")

    @property
    def is_try_over(self) -> bool:
        """Whether the newest try is over as it is: it was refused, or somebody decides about it."""
        return self.is_unknown or self.reason == "input_refused"


class StepResult(RunModel):
    """What became of a step."""

    number: int
    status: StepStatus
    attempts: int = Field(description="How often it was tried; all but the last never happened.")
    command_id: UUID | None = Field(None, description="Of its input, where it has one.")
    how: str | None = Field(None, description="By what its place was found.")
    score: float | None = None
    verified: str | None = Field(
        None, description="How its expectation was seen; null where it has none."
    )
    began_at: Time
    ended_at: Time


class Repair(RunModel):
    """A step that a person did, or found, where a run was halted; its proposal has it so."""

    number: int = Field(description="Of the step in what was approved.")
    kind: Literal["pointed", "by_hand"] = Field(
        description="pointed: somebody said what it is done to now.  by_hand: somebody did it."
    )
    by: str = Field(description="The name of whose token it was.")
    at: Time


class Run(RunModel):
    """A run."""

    id: UUID
    workflow_id: UUID
    trajectory_id: UUID
    content_hash: ContentHash = Field(description="Of the content that was approved and is run.")
    machine_id: str | None = Field(description="Null before one of its pools is chosen.")
    pool_ids: list[UUID] | None
    status: RunStatus
    priority: int
    halt_timeout: int
    input_values: dict[str, str]
    secrets: list[str] = Field(description="The names of its secrets, whose values nobody is told.")
    step_count: int
    step: int = Field(description="The number of the step that it is at, or comes to next.")
    halted: Halted | None
    repairs: tuple[Repair, ...] = Field(description="What people did where it was halted.")
    proposal_id: UUID | None = Field(
        description="The trajectory that its repairs propose as a new version, to be reviewed."
    )
    error: str | None = Field(description="Why it ended otherwise than with success.")
    by: str = Field(description="The name of the token that began it.")
    retry_of: UUID | None = Field(description="The run that it is another try of.")
    created_at: Time
    started_at: Time | None
    ended_at: Time | None


class RunWithSteps(Run):
    """A run, and what became of each step that is behind it."""

    steps: tuple[StepResult, ...]


class RunPage(Page[Run]):
    """A page of runs, newest first."""
