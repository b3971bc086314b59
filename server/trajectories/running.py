"""What a run does of a trajectory: exactly the content that was approved, and its steps."""

import json
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from schemas.runs.runs import MOST_STEPS
from schemas.steps.parameters import Parameter, Parameters
from schemas.steps.step import Step, why_cannot_run
from server.errors import NotFound, WrongState
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import WorkflowStore
from server.trajectories.editing import read_steps
from server.trajectories.reviewing import is_runnable

MOST_BYTES: Final = 8 * 1024 * 1024
"""Of all steps together, which a node has in memory while it works at a run."""


@dataclass(frozen=True)
class RunContent:
    """A trajectory to be run: its head, its steps in order, and what its workflow takes."""

    trajectory: StoredTrajectory
    steps: tuple[Step, ...]
    input_schema: Parameters


class RunContents:
    """Reads what may be run.  Every method sees the trajectories of one organization alone."""

    def __init__(self, trajectories: TrajectoryStore, workflows: WorkflowStore) -> None:
        self._trajectories = trajectories
        self._workflows = workflows

    async def main_of(self, organization_id: UUID, workflow_id: UUID) -> RunContent:
        """The main trajectory of a workflow.

        Raises NotFound where there is no such workflow, and WrongState where there is none that
        can be run.
        """
        if await self._workflows.get(organization_id, workflow_id) is None:
            raise NotFound("There is no such workflow.")
        main = await self._trajectories.main(organization_id, workflow_id)
        if main is None:
            raise WrongState("the workflow has no main trajectory: set is_main of an approved one")
        return await self._content(main)

    async def of(self, organization_id: UUID, trajectory_id: UUID) -> RunContent:
        """This trajectory.  Raises NotFound, and WrongState where it cannot be run."""
        found = await self._trajectories.get(organization_id, trajectory_id)
        if found is None:
            raise NotFound("There is no such trajectory.")
        return await self._content(found)

    async def as_before(self, organization_id: UUID, trajectory_id: UUID) -> RunContent:
        """This trajectory, which there was.  Raises WrongState where it cannot be run any more."""
        try:
            return await self.of(organization_id, trajectory_id)
        except NotFound:
            raise WrongState("the trajectory that was run is not there any more") from None

    async def _content(self, trajectory: StoredTrajectory) -> RunContent:
        if why := why_not_runnable(trajectory):
            raise WrongState(why)
        steps = await self._steps(trajectory)
        workflow = await self._workflows.get(trajectory.organization_id, trajectory.workflow_id)
        given = (workflow.input_schema if workflow is not None else None) or {}
        schema = {name: Parameter.model_validate(each) for name, each in given.items()}
        return RunContent(trajectory, steps, schema)

    async def _steps(self, trajectory: StoredTrajectory) -> tuple[Step, ...]:
        texts = await read_steps(self._trajectories.parts, trajectory)
        decoded = [json.loads(each) for each in texts]
        for number, step in enumerate(decoded, 1):
            if why := why_cannot_run(step):
                raise WrongState(f"step {number} cannot be run: {why}")
        return tuple(map(Step.model_validate, decoded))


def why_not_runnable(trajectory: StoredTrajectory) -> str | None:
    """Why nothing may be run of a trajectory as it is, as a sentence; None where it may."""
    size = trajectory.inline_size + sum(each.size for each in trajectory.segments)
    if not is_runnable(trajectory):
        state = trajectory.review.state
        if state == "withdrawn":
            return "its approval was withdrawn, or its content changed since: have it reviewed"
        return f"nobody has approved its content (its review is {state}): have it reviewed"
    if not 1 <= trajectory.step_count <= MOST_STEPS:
        return f"it has {trajectory.step_count:,} steps, and a run has 1 to {MOST_STEPS:,}"
    if size > MOST_BYTES:
        return f"its steps have {size:,} bytes, and those of a run at most {MOST_BYTES:,}"
    return None
