"""What the addresses of trajectories and workflows name."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field


class TrajectoryPath(BaseModel):
    """Names a trajectory."""

    trajectory_id: UUID

    @property
    def subject(self) -> str:
        """What a refusal calls it."""
        return f"trajectory {self.trajectory_id}"


class StepPath(TrajectoryPath):
    """Names a step of a trajectory."""

    number: Annotated[int, Field(ge=1)]

    @property
    def subject(self) -> str:
        """What a refusal calls it."""
        return f"{super().subject} with a step {self.number}"


class WorkflowPath(BaseModel):
    """Names a workflow."""

    workflow_id: UUID
