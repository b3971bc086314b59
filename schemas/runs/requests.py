"""What is asked of runs: to begin, to go on, and which are wanted."""

from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.http.queries import NullableUuid, NullText, PageQuery
from schemas.inputs.selectors import Selector
from schemas.inputs.texts import MAX_TEXT_LENGTH
from schemas.runs.runs import RunStatus
from schemas.steps.parameters import ParameterName
from schemas.values.scalars import Coordinate, MachineId, StrictBool, Text
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MOST_VALUES: Final = 200
MOST_POOLS: Final = 32
USUAL_PRIORITY: Final = 5
USUAL_HALT_SECONDS: Final = 3_600
LONGEST_HALT_SECONDS: Final = 30 * 24 * 3_600

Values = Annotated[
    dict[ParameterName, Annotated[Text, Field(max_length=MAX_TEXT_LENGTH)]],
    Field(max_length=MOST_VALUES),
]
"""Texts by the names of the parameters that they are for."""


class NewRun(StrictModel):
    """The body of ``POST /v1/runs``."""

    workflow_id: UUID | None = Field(
        None, description="Runs its main trajectory.  Either this or trajectory_id."
    )
    trajectory_id: UUID | None = Field(None, description="Runs this one.")
    machine_id: MachineId | None = Field(
        None, description="Runs on this machine.  Either this or pool_ids."
    )
    pool_ids: Annotated[list[UUID], Field(min_length=1, max_length=MOST_POOLS)] | None = Field(
        None, description="Runs on whichever machine of these pools is connected and free first."
    )
    input_values: Values = Field(
        default_factory=dict, description="A value for each parameter of the steps, as a text."
    )
    sensitive_input_values: Values = Field(
        default_factory=dict,
        repr=False,
        description="A value for each secret of the steps.  They are encrypted at rest, in no "
        "answer, and erased when the run ends.",
    )
    priority: Annotated[int, Field(strict=True, ge=0, le=9)] = Field(
        USUAL_PRIORITY,
        description="Of the runs that wait for a machine the highest comes first, then the oldest.",
    )
    halt_timeout: Annotated[int, Field(strict=True, ge=0, le=LONGEST_HALT_SECONDS)] = Field(
        USUAL_HALT_SECONDS,
        description="For so many seconds a halted run keeps its machine from other runs and "
        "programs.",
    )

    @model_validator(mode="after")
    def _says_what_and_where(self) -> Self:
        if (self.workflow_id is None) == (self.trajectory_id is None):
            raise PydanticCustomError("run_of", "give either workflow_id or trajectory_id")
        if (self.machine_id is None) == (self.pool_ids is None):
            raise PydanticCustomError("run_on", "give either machine_id or pool_ids")
        return self


class RetriedRun(StrictModel):
    """The body of ``POST /v1/runs/{run_id}/retry``."""

    sensitive_input_values: Values = Field(
        default_factory=dict,
        repr=False,
        description="Those of the run before were erased at its end.",
    )


class PlacePointedAt(StrictModel):
    """A place on the machine's screen as it is now, in the pixels of the whole desktop."""

    x: Coordinate
    y: Coordinate


class ContinuedRun(StrictModel):
    """The body of ``POST /v1/runs/{run_id}/continue``."""

    halted_at: Time | None = Field(
        None,
        description="Which halt this is about: the at of the run's halted, as it was read.  Where "
        "the run has gone on since, and is halted anew, it is refused.  Anything else needs it.",
    )
    at_step: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        None,
        description="Goes on at this step, and skips those before it that are not done.  Of a step "
        "of which nobody knows whether it was done, its own number says: do it again.",
    )
    skip: StrictBool = Field(False, description="Takes the step for done, and goes on behind it.")
    place: PlacePointedAt | None = Field(
        None,
        description="A repair: the step is done to what is there now.  Needs input:send and "
        "trajectories:write as well.",
    )
    element: Selector | None = Field(
        None, description="A repair as place: the step is done to this element."
    )
    by_hand: UUID | None = Field(
        None,
        description="A repair, with skip: the trajectory in which it was recorded how somebody did "
        "the step by hand.  Needs input:send and trajectories:write as well.",
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        said = (self.at_step is not None, self.skip, self.place is not None, self.element)
        if sum(map(bool, said)) > 1:
            raise PydanticCustomError(
                "continue_where", "give either at_step, skip, place or element"
            )
        if any(said) and self.halted_at is None:
            raise PydanticCustomError(
                "continue_which",
                "say which halt you decide about: give halted_at, the at of the run's halted",
            )
        if self.by_hand is not None and not self.skip:
            raise PydanticCustomError(
                "by_hand_without_skip", "what was done by hand is not done again: give skip as well"
            )
        return self

    @property
    def is_repair(self) -> bool:
        """Whether it says how the step is, or was, to be done."""
        return self.by_hand is not None or self.points

    @property
    def points(self) -> bool:
        """Whether it says what the step is done to."""
        return self.place is not None or self.element is not None


class RunListQuery(PageQuery):
    """The query of ``GET /v1/runs``."""

    status: Annotated[RunStatus | None, NullText] = Field(
        None, description="Only those in this status."
    )
    machine_id: Annotated[MachineId | None, NullText] = Field(
        None, description="Only those on this machine."
    )
    workflow_id: NullableUuid = Field(None, description="Only those of this workflow.")
