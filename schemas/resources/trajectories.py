"""Trajectories: recorded sequences of steps, as they come in, are asked for, and go out."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from schemas.http import queries
from schemas.http.patches import not_given
from schemas.http.problems import Problem, ValidationErrorBody
from schemas.steps.reviews import ContentHash, ListedReviewState, Review
from schemas.values.json_texts import Dimensions, JsonObject, JsonObjects
from schemas.values.scalars import MachineId, Storable, StrictBool
from schemas.values.strict import StrictModel
from schemas.values.times import Time

MAX_NAME_CHARACTERS = 255

MAX_TRAJECTORY_BYTES = 15 * 1024 * 1024
"""What surely fits one document of the database, with everything around it."""

MAX_TRAJECTORY_VALUES = 100_000
"""What is parsed in some 0.05 s: over 10,000 steps of eight members each.  More are appended."""


TrajectoryName = Annotated[str, Field(max_length=MAX_NAME_CHARACTERS), Storable]
"""What people call a trajectory."""


Description = Annotated[str, Field(max_length=100_000), Storable]
"""What people say about a trajectory; it is folded for the search while everybody waits."""


def _some_steps(steps: JsonObjects) -> JsonObjects:
    if not steps.count:
        raise PydanticCustomError("too_short", "must have at least one step")
    return steps


class NewTrajectory(StrictModel):
    """The body of ``POST /v1/trajectories``.

    The free-form parts are kept as JSON text: what comes back is what was given.
    """

    workflow_id: UUID = Field(description="Workflow the trajectory belongs to.")
    dimensions: Dimensions = Field(description="Display dimensions during the recording.")
    trajectory_data: JsonObjects | None = Field(description="The steps; null while there are none.")
    name: TrajectoryName | None = None
    description: Description | None = None
    run_id: UUID | None = Field(None, description="Run that created the trajectory.")
    original_input_values: JsonObject | None = Field(
        None, description="Input values used when the trajectory was created."
    )
    is_approved: StrictBool = Field(
        False, description="Kept and shown; nothing can be run that was not reviewed here."
    )
    is_generated: StrictBool | None = Field(
        None, description="true = generated, false = pending; null = whether there are steps."
    )

    @property
    def step_count(self) -> int:
        """How many steps there are."""
        return self.trajectory_data.count if self.trajectory_data else 0

    @property
    def generated(self) -> bool:
        """``is_generated``, decided by the steps where nobody said it."""
        return self.step_count > 0 if self.is_generated is None else self.is_generated


class ImportedTrajectory(NewTrajectory):
    """One line of an import file: what is given of id and times is kept."""

    id: UUID | None = None
    created_at: Time | None = None
    updated_at: Time | None = None
    has_been_approved: StrictBool = False
    is_main: StrictBool = Field(
        False, description="Left out where another trajectory is its workflow's main one."
    )
    content_hash: ContentHash | None = Field(
        None, description="As an export has it; not looked at, as it is made of the content."
    )
    review: Review | None = Field(
        None, description="As an export has it; not taken over: what is imported is not reviewed."
    )
    machine_id: MachineId | None = Field(
        None, description="As an export has it; not taken over: it may be a machine elsewhere."
    )
    pictures_until: Time | None = Field(
        None, description="As an export has it; not taken over: the time is counted anew."
    )
    pictures_expired_at: Time | None = Field(
        None, description="As an export has it; not taken over: the pictures may be here."
    )

    @model_validator(mode="after")
    def _updated_after_created(self) -> Self:
        if self.created_at and self.updated_at and self.updated_at < self.created_at:
            raise PydanticCustomError("times_reversed", "updated_at must not be before created_at")
        return self


class ImportedLine(BaseModel):
    """One line of the answer to an import: what became of one line of its body."""

    line: int = Field(ge=1, description="The number of the line; blank lines count as well.")
    outcome: Literal["imported", "there_already", "wrong"] = Field(
        description="there_already: with this id and all that the line says.  wrong: nothing of "
        "it is kept."
    )
    id: UUID | None = Field(None, description="The trajectory's, unless the line is wrong.")
    error: Problem | ValidationErrorBody | None = Field(
        None,
        description="What POST /v1/trajectories would have answered to a line that is wrong, "
        "without the values at fault.",
    )


class ChangedTrajectory(StrictModel):
    """The body of ``PATCH /v1/trajectories/{trajectory_id}``: what is named changes, nothing else.

    Null clears a field that can be empty.
    """

    name: TrajectoryName | None = None
    description: Description | None = None
    run_id: UUID | None = Field(None, description="Run that created the trajectory.")
    workflow_id: UUID = Field(
        default_factory=not_given,
        description="Moves it to another workflow, not as the main one unless is_main says so.",
    )
    dimensions: Dimensions = Field(
        default_factory=not_given, description="Display dimensions during the recording."
    )
    original_input_values: JsonObject | None = Field(
        None, description="Input values used when the trajectory was created."
    )
    is_approved: StrictBool = Field(
        default_factory=not_given,
        description="Only what is generated can be approved.  false withdraws a review's approval;"
        " true is kept and shown, and makes no review.",
    )
    is_generated: StrictBool = Field(
        default_factory=not_given,
        description="true ends the generation and takes a step at least; false goes back to "
        "pending, which takes that it is not approved.",
    )
    is_main: StrictBool = Field(
        default_factory=not_given,
        description="true makes it the main one of its workflow, in the place of another.",
    )
    updated_at: Time = Field(
        default_factory=not_given,
        description="Kept as it is given, for the end of an import; otherwise the present time.",
    )


class NewSteps(StrictModel):
    """The body of ``POST /v1/trajectories/{trajectory_id}/steps``."""

    steps: Annotated[JsonObjects, AfterValidator(_some_steps)] = Field(
        description="Steps to put behind those that are there: at least one."
    )
    before: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        None,
        description="The number of the step, counted from 1, that they are put in front of, "
        "whether it is pending or generated; null puts them behind all others.",
    )


class Duplicate(StrictModel):
    """The body of ``POST /v1/trajectories/{trajectory_id}/duplicate``."""

    name: TrajectoryName | None = Field(
        None, description="Its name; the original's with “ (copy)” behind it where none is given."
    )


class IncludedResource(BaseModel):
    """A related resource, by its type; its own fields follow."""

    model_config = ConfigDict(extra="allow")

    type: str
    id: UUID


_PICTURES_UNTIL = (
    "When its pictures go, unless it is changed or approved by then; null where it has none, where "
    "they are kept because it is approved, and where nothing says when they go."
)
_PICTURES_EXPIRED = (
    "When pictures of its steps went because of their age or of their size; null where none did."
)


class Trajectory(BaseModel):
    """A trajectory as it is answered in lists."""

    id: UUID
    workflow_id: UUID = Field(description="Workflow the trajectory belongs to.")
    is_approved: bool = Field(description="Approval status.")
    has_been_approved: bool = Field(description="Whether anybody approved it, now or before.")
    is_generated: bool = Field(description="true = generated, false = pending generation.")
    is_main: bool = Field(description="Whether it is the main one of its workflow: one at most.")
    dimensions: dict[str, Any] = Field(description="Display dimensions during the recording.")
    created_at: Time
    updated_at: Time
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)] | None = None
    description: str | None = None
    run_id: UUID | None = Field(None, description="Run that created the trajectory.")
    user_id: UUID | None = None
    organization_id: str | None = None
    machine_id: str | None = Field(
        None,
        description="The machine that it was recorded on, or what it is a duplicate of; null where "
        "it was not recorded.",
    )
    pictures_until: Time | None = Field(None, description=_PICTURES_UNTIL)
    pictures_expired_at: Time | None = Field(None, description=_PICTURES_EXPIRED)
    step_count: int = Field(ge=0, description="How many steps it has.")
    content_hash: ContentHash | None = Field(
        None,
        description="Of all that a run would use: the steps, dimensions, original_input_values and "
        "workflow_id; null while it is pending generation.",
    )
    review: Review = Field(default_factory=lambda: Review(state="open"))
    trajectory_data: list[dict[str, Any]] | None = None
    original_input_values: dict[str, Any] = Field(
        default_factory=dict, description="Input values used when the trajectory was created."
    )


class TrajectoryHead(BaseModel):
    """A trajectory without its steps."""

    id: UUID
    workflow_id: UUID = Field(description="Workflow the trajectory belongs to.")
    is_approved: bool = Field(description="Approval status.")
    has_been_approved: bool = Field(description="Whether anybody approved it, now or before.")
    is_generated: bool = Field(description="true = generated, false = pending generation.")
    is_main: bool = Field(description="Whether it is the main one of its workflow: one at most.")
    step_count: int = Field(ge=0, description="How many steps it has now.")
    dimensions: dict[str, Any] = Field(description="Display dimensions during the recording.")
    created_at: Time
    updated_at: Time
    name: str | None
    description: str | None
    run_id: UUID | None = Field(description="Run that created the trajectory.")
    user_id: UUID | None
    organization_id: str
    machine_id: str | None = Field(
        description="The machine that it was recorded on, or what it is a duplicate of; null where "
        "it was not recorded.",
    )
    pictures_until: Time | None = Field(description=_PICTURES_UNTIL)
    pictures_expired_at: Time | None = Field(description=_PICTURES_EXPIRED)
    content_hash: ContentHash | None = Field(
        description="Of all that a run would use: the steps, dimensions, original_input_values and "
        "workflow_id; null while it is pending generation.",
    )
    review: Review
    original_input_values: dict[str, Any] = Field(
        description="Input values used when the trajectory was created."
    )


class TrajectoryWithIncluded(Trajectory):
    """A trajectory as it is answered alone."""

    included: list[IncludedResource] | None = Field(
        None, description="Present when requested through the include parameter."
    )


class LatestTrajectory(Trajectory):
    """The latest trajectory of a workflow; it has steps."""

    trajectory_data: list[dict[str, Any]] = Field(min_length=1)


class TrajectoryPage(BaseModel):
    """A part of the list of trajectories, in the order that was asked for."""

    items: list[Trajectory]
    total: int = Field(ge=0)
    skip: int = Field(ge=0)
    limit: int = Field(ge=1)
    included: list[IncludedResource] | None = Field(
        None, description="Related resources requested through the include parameter."
    )


def _comma_separated(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if name != "workflow":
            raise PydanticCustomError(
                "include_unknown", "must be a comma-separated list of: workflow"
            )
    return frozenset(names)


NullableInclude = Annotated[
    frozenset[Literal["workflow"]] | None,
    BeforeValidator(_comma_separated),
    queries.NullText,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]
"""Which related resources are wanted: null is none."""


class IncludeQuery(queries.Query):
    """The query of ``GET /v1/trajectories/{trajectory_id}``."""

    include: NullableInclude = Field(
        None, description="Comma-separated list of related resources; allowed value: workflow."
    )


TrajectorySort = Literal["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"]
"""What a list is sorted by, upwards, or downwards with the sign."""


class TrajectoryQuery(queries.PageQuery, IncludeQuery):
    """The query of ``GET /v1/trajectories``; both ends of a range belong to it."""

    search: queries.NullableSearch = Field(
        None,
        description="Case-insensitive substring match against id, name, or description: by "
        "Unicode's full case folding, accents composed.  No character has a meaning of its own.",
    )
    workflow_id: queries.NullableUuid = Field(None, description="Filter by workflow.")
    run_id: queries.NullableUuid = Field(None, description="Filter by run.")
    machine_id: Annotated[MachineId | None, queries.NullText] = Field(
        None, description="Filter by the machine that they were recorded on."
    )
    author_id: queries.NullableUuid = Field(
        None,
        description="Filter by who made or changed what a run would use: the id of a user, or of a "
        "token that has no user.",
    )
    is_approved: queries.NullableBool = Field(
        None, description="true = approved only, false = not approved only."
    )
    is_generated: queries.NullableBool = Field(
        True, description="true = generated, false = pending generation, null = both."
    )
    review_state: Annotated[ListedReviewState | None, queries.NullText] = Field(
        None,
        description="Filter by the state of the review; pending = is_generated is false, and with "
        "all others true.",
    )
    created_at_from: queries.NullableTimeFrom = Field(
        None, description="Created at or after this UTC timestamp."
    )
    created_at_to: queries.NullableTime = Field(
        None, description="Created at or before this UTC timestamp."
    )
    updated_at_from: queries.NullableTimeFrom = Field(
        None, description="Updated at or after this UTC timestamp."
    )
    updated_at_to: queries.NullableTime = Field(
        None, description="Updated at or before this UTC timestamp."
    )
    sort: TrajectorySort = Field(
        "-created_at",
        description="A minus is downwards.  Where two are equal in it, created_at and then id "
        "decide, in the same direction.  Names are compared without regard to case, digits in "
        "them as numbers; whatever has no name stands behind all names, with -name before them.",
    )
    steps: queries.QueryBool = Field(
        True,
        description="false = without the steps: trajectory_data is null, and step_count says how "
        "many there are.",
    )

    @model_validator(mode="after")
    def _reviewed_as_generated(self) -> Self:
        is_said = "is_generated" in self.model_fields_set and self.is_generated is not None
        if self.review_state and is_said and self.is_generated != self._is_generated_by_review:
            raise PydanticCustomError(
                "review_state_contradicted",
                "is_generated must be {wanted} with review_state={state}, or not be given",
                {
                    "wanted": str(self._is_generated_by_review).lower(),
                    "state": self.review_state,
                },
            )
        return self

    @property
    def _is_generated_by_review(self) -> bool:
        return self.review_state != "pending"

    @property
    def generated(self) -> bool | None:
        """Whether those that are wanted are generated; None is both."""
        return self._is_generated_by_review if self.review_state else self.is_generated

    @model_validator(mode="after")
    def _ranges_not_reversed(self) -> Self:
        for name, start, end in (
            ("created_at", self.created_at_from, self.created_at_to),
            ("updated_at", self.updated_at_from, self.updated_at_to),
        ):
            if start is not None and end is not None and start > end:
                raise PydanticCustomError(
                    "range_reversed", "{name}_from must not be later than {name}_to", {"name": name}
                )
        return self


class ExportQuery(queries.Query):
    """The query of ``GET /v1/trajectories/export``."""

    workflow_id: queries.NullableUuid = Field(None, description="Only those of this workflow.")
    is_generated: queries.NullableBool = Field(
        True, description="true = generated, false = pending generation, null = both."
    )
    after_created_at: queries.NullableTime = Field(
        None, description="Go on after the trajectory that was created then, with the id after_id."
    )
    after_id: queries.NullableUuid = Field(None, description="Belongs to after_created_at.")

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if (self.after_created_at is None) != (self.after_id is None):
            raise PydanticCustomError(
                "after_incomplete", "after_created_at and after_id are given both or neither"
            )
        return self
