"""What the server answers about trajectories, workflows and pictures; ``farhand.types`` has it."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from farhand._fleet_types import Answer


class Parameter(Answer):
    """What a value may be."""

    type: Literal["text", "integer", "number"] = "text"
    example: str | None = None
    description: str | None = None
    max_length: int = 255
    control_characters: bool = False
    """Whether tabs and ends of lines are allowed."""


class Workflow(Answer):
    """What trajectories are recordings of."""

    id: UUID
    name: str
    description: str | None
    input_schema: dict[str, Parameter] | None = None
    """What values a run brings."""
    created_at: datetime
    updated_at: datetime


class Editor(Answer):
    """Who makes, changes or reviews a trajectory."""

    token_id: UUID
    token_name: str
    user_id: UUID | None


class Review(Answer):
    """What was decided about a trajectory's content."""

    state: Literal["open", "approved", "rejected", "withdrawn"]
    by: Editor | None = None
    at: datetime | None = None
    comment: str | None = None
    content_hash: str | None = None
    """Of the content that was decided about."""


class TrajectoryHead(Answer):
    """A trajectory without its steps."""

    id: UUID
    workflow_id: UUID
    is_approved: bool
    has_been_approved: bool
    is_generated: bool
    is_main: bool
    dimensions: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    name: str | None = None
    description: str | None = None
    run_id: UUID | None = None
    user_id: UUID | None = None
    organization_id: str | None = None
    machine_id: str | None = None
    """The machine that it was recorded on, or what it is a duplicate of."""
    pictures_until: datetime | None = None
    """When its pictures go, unless it is changed or approved by then."""
    pictures_expired_at: datetime | None = None
    """When pictures of its steps went."""
    step_count: int
    content_hash: str | None = None
    """Of all that a run would use; None while it is pending generation."""
    review: Review = Field(default_factory=lambda: Review(state="open"))
    original_input_values: dict[str, Any] = Field(default_factory=dict)


class Trajectory(TrajectoryHead):
    """A trajectory with its steps."""

    trajectory_data: list[dict[str, Any]] | None = None
    """None where it was read without steps."""


class TrajectoryStep(Answer):
    """A step with its number."""

    number: int
    """Counted from 1."""
    cannot_run: str | None
    """Why Farhand cannot do what it says; None where it can."""
    pictures_gone: Literal["expired", "missing"] | None
    """Why a picture that the step names is not there."""
    step: dict[str, Any]


class IncludedResource(Answer):
    """A related resource; its own fields are beside these two."""

    type: str
    id: UUID


class TrajectoryWithIncluded(Trajectory):
    """A trajectory, and what was asked for beside it."""

    included: list[IncludedResource] | None = None


class LatestTrajectory(Trajectory):
    """The latest generated trajectory of a workflow."""


class ImportedLine(Answer):
    """What became of one line of an import."""

    line: int
    outcome: Literal["imported", "there_already", "wrong"]
    id: UUID | None = None
    error: dict[str, Any] | None = None


class StoredPicture(Answer):
    """A picture that steps of trajectories refer to."""

    id: str
    """The SHA-256 of its bytes, as 64 hexadecimal digits."""
    media_type: Literal["image/png", "image/jpeg"]
    size: int
    """Bytes."""
    created_at: datetime


class GoingTrajectory(Answer):
    """A trajectory whose pictures go."""

    id: UUID
    name: str | None
    machine_id: str | None
    pictures_until: datetime


class PictureOutlook(Answer):
    """What is kept of pictures, and a part of the trajectories whose go, the next first."""

    lifetime: float | None
    """Seconds after a trajectory was changed last; None is for ever."""
    most_bytes: int | None
    """Beyond which those of what was not changed for the longest go."""
    bytes: int
    items: list[GoingTrajectory]
    total: int
    skip: int
    limit: int
