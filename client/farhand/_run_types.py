"""Runs as a server answers them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, TypedDict
from uuid import UUID

from pydantic import Field

from farhand._desktop_types import Area
from farhand._fleet_types import Answer

RunStatus = Literal[
    "scheduling", "running", "running_checks", "success", "task_failed", "error", "cancelled"
]


class NewRun(TypedDict, total=False):
    """A run to begin, with the names that `Runs.create` has."""

    workflow: UUID | str | None
    trajectory: UUID | str | None
    machine: str | None
    pools: Sequence[UUID | str] | None
    values: Mapping[str, str] | None
    sensitive_values: Mapping[str, str] | None
    priority: int | None
    halt_timeout: int | None


class Candidate(Answer):
    """A place at which what a step was done to may be."""

    at: Area | None = None
    score: float
    """How much it is like what was recorded, 0 to 1."""
    text: str | None = None
    """What it is, for a person."""


class Halted(Answer):
    """Why a run does not go on, and what a person needs to know to help."""

    step: int
    reason: str
    """For a program, such as missing or taken_over."""
    detail: str
    """For a person."""
    at: datetime
    picture: str | None = None
    """The id of a picture of what the screen showed."""
    candidates: list[Candidate] = Field(default_factory=list)
    is_done: bool = False
    """Whether the step's input was done: then it is never done again."""
    is_unknown: bool = False
    """Whether nobody knows if the step's input was done: somebody has to decide."""
    help_id: UUID | None = None
    """The help request about it."""


class StepResult(Answer):
    """What became of a step."""

    number: int
    status: Literal["done", "skipped"]
    attempts: int
    """How often it was tried; all but the last never happened."""
    command_id: UUID | None = None
    how: str | None = None
    """By what its place was found."""
    score: float | None = None
    verified: str | None = None
    """How its expectation was seen; None where it has none."""
    began_at: datetime
    ended_at: datetime


class Repair(Answer):
    """A step that a person did, or found, where a run was halted; its proposal has it so."""

    number: int
    """Of the step in what was approved."""
    kind: Literal["pointed", "by_hand"]
    by: str
    """The name of whose token it was."""
    at: datetime


class Run(Answer):
    """A run."""

    id: UUID
    workflow_id: UUID
    trajectory_id: UUID
    content_hash: str
    machine_id: str | None
    """None before one of its pools' machines is chosen."""
    pool_ids: list[UUID] | None
    status: RunStatus
    priority: int
    halt_timeout: int
    input_values: dict[str, str]
    secrets: list[str]
    """The names of its secrets."""
    step_count: int
    step: int
    """The number of the step that it is at, or comes to next."""
    halted: Halted | None
    repairs: list[Repair] = Field(default_factory=list)
    """What people did where it was halted."""
    proposal_id: UUID | None = None
    """The trajectory that its repairs propose as a new version, to be reviewed."""
    error: str | None
    """Why it ended otherwise than with success."""
    by: str
    """The name of the token that began it."""
    retry_of: UUID | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class RunWithSteps(Run):
    """A run, and what became of each step that is behind it."""

    steps: list[StepResult]


class BulkRun(Answer):
    """What became of one of many runs that were to begin."""

    machine_id: str | None = None
    """The one that was asked for."""
    status: Literal["begun", "refused"]
    run_id: UUID | None = None
    """Of a run that was begun."""
    detail: str | None = None
    """What was wrong, for a person."""


class BulkRuns(Answer):
    """What became of each, in the order in which they were asked for."""

    items: list[BulkRun]
    begun: int
    refused: int
