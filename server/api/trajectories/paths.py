"""What the addresses of trajectories and workflows name."""

from uuid import UUID

from pydantic import BaseModel


class TrajectoryPath(BaseModel):
    """Names a trajectory."""

    trajectory_id: UUID


class WorkflowPath(BaseModel):
    """Names a workflow."""

    workflow_id: UUID
