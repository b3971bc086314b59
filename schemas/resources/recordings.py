"""Recordings: what is done on a machine becomes the steps of a trajectory."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http import queries
from schemas.http.queries import NullText, Page, PageQuery
from schemas.resources.trajectories import TrajectoryName
from schemas.values.scalars import MachineId, StrictBool
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_OF_MACHINE: Final = 4
"""So many recordings of one machine run at once, at most."""

MOST_STEPS: Final = 5_000
MOST_STEP_BYTES: Final = 8 * 1024 * 1024
MOST_PICTURE_BYTES: Final = 512 * 1024 * 1024
LONGEST_HOURS: Final = 8
IDLE_MINUTES: Final = 60
"""A recording in which nothing happens for so long ends."""

RecordingId = queries.QueryUuid
"""The id of a recording, as a header or an address has it."""

RecordedInputs = Literal["everybody", "me"]

RecordingState = Literal["recording", "stopped"]

WhyStopped = Literal[
    "asked",
    "steps",
    "bytes",
    "hours",
    "idle",
    "token",
    "pools",
    "machine",
    "trajectory",
    "failed",
]
"""Why a recording has ended, for a program."""

WORDS: Final[dict[WhyStopped, str]] = {
    "asked": "somebody stopped it",
    "steps": f"it has {MOST_STEPS:,} steps, and may have no more: go on with another one",
    "bytes": f"its steps have {MOST_STEP_BYTES // 1024 // 1024} MiB, and may have no more",
    "hours": f"it has gone on for {LONGEST_HOURS} hours, and may take no longer",
    "idle": f"nothing was done on the machine for {IDLE_MINUTES} minutes",
    "token": "the token of whoever began it was revoked or has expired",
    "pools": "its machine is in no pool any more of the token of whoever began it",
    "machine": "the machine was removed",
    "trajectory": "its trajectory was deleted, or somebody has ended its generation",
    "failed": "the server could not write its steps, and its log says why",
}
"""The same for a person."""


class NewRecording(StrictModel):
    """The body of ``POST /v1/machines/{machine_id}/recordings``."""

    workflow_id: UUID | None = Field(
        None,
        description="Workflow that the trajectory belongs to; a new one is made where none is "
        "given.",
    )
    name: TrajectoryName | None = Field(None, description="The trajectory's name.")
    of: RecordedInputs = Field(
        "everybody",
        description="Whose inputs: everybody's, or those alone that come with the token that "
        "records.",
    )
    keep_texts: StrictBool = Field(
        False,
        description="true keeps what is typed, and the pictures beside it, also where the field "
        "may be a password's.  false keeps a text only where the field is known to be none; else "
        "the step names a secret in its place, and the field is blacked out on its pictures.",
    )


class SecretTyping(StrictModel):
    """The body of ``POST /v1/recordings/{recording_id}/secret``."""

    on: StrictBool = Field(
        description="true: what is typed from now on is a secret, whatever is known of its field. "
        "false: no more."
    )


class RecordingReference(BaseModel):
    """That a machine is recorded: by whom, and since when."""

    id: UUID
    by: str = Field(description="The name of the token that records.")
    since: Time
    of: RecordedInputs
    secret: bool = Field(description="Whether what is typed now is said to be a secret.")


class Recording(BaseModel):
    """A recording, which runs or has ended."""

    id: UUID
    machine_id: str
    trajectory_id: UUID = Field(description="Its steps are there as soon as they are done.")
    workflow_id: UUID
    by: str = Field(description="The name of the token that records.")
    since: Time
    of: RecordedInputs
    keep_texts: bool
    secret: bool = Field(description="Whether what is typed now is said to be a secret.")
    state: RecordingState
    stopped_at: Time | None
    why_stopped: WhyStopped | None
    reason: str | None = Field(description="Why it has ended, for a person.")
    steps: int = Field(ge=0, description="How many steps it has, gaps among them.")
    gaps: int = Field(ge=0, description="How many of them mark that something may be missing.")
    secrets: int = Field(ge=0, description="How many of them have a secret in a text's place.")
    pictures: int = Field(ge=0, description="How many pictures it has kept, each once.")
    picture_bytes: int = Field(ge=0)
    last_step_at: Time | None


class RecordingPage(Page[Recording]):
    """A page of recordings, newest first."""


class RecordingQuery(PageQuery):
    """The query of ``GET /v1/recordings``."""

    machine_id: Annotated[MachineId | None, NullText] = Field(
        None, description="Only those of this machine."
    )
    state: Annotated[RecordingState | None, NullText] = Field(
        None, description="Only those that run, or have stopped."
    )
