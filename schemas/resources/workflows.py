"""Workflows: what trajectories are recordings of."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.http.patches import not_given
from schemas.steps.parameters import Parameters
from schemas.values.scalars import Name, Text
from schemas.values.strict import StrictModel
from schemas.values.times import Time

INPUT_SCHEMA = (
    "The values that a run brings, by their names.  A value has to fit this and what the approved "
    "steps say of a parameter of its name; null is what those say alone."
)


class NewWorkflow(StrictModel):
    """The body of ``POST /v1/workflows``."""

    name: Name
    description: Text | None = None
    input_schema: Parameters | None = Field(None, description=INPUT_SCHEMA)


class ChangedWorkflow(StrictModel):
    """The body of ``PATCH /v1/workflows/{workflow_id}``: what is named changes, nothing else."""

    name: Name = Field(default_factory=not_given)
    description: Text | None = None
    input_schema: Parameters | None = Field(None, description=INPUT_SCHEMA)


class Workflow(BaseModel):
    """A workflow as it is answered."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    name: str
    description: str | None
    input_schema: Parameters | None = Field(None, description=INPUT_SCHEMA)
    created_at: Time
    updated_at: Time


class WorkflowPage(BaseModel):
    """A part of the list of workflows, newest first."""

    items: list[Workflow]
    total: int = Field(ge=0)
    skip: int = Field(ge=0)
    limit: int = Field(ge=1)
