"""What the operations on trajectories share: their answers, and telling of changes."""

from uuid import UUID

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.events import TrajectoryChanged, TrajectoryChangeName
from server.errors import NotFound
from server.trajectories.answers import KeyedAnswer, TrajectoryAnswer
from server.web.auditing import record
from server.web.changes import ChangingHandler
from server.web.streaming import CHUNK_BYTES, StreamingHandler


class AnsweringHandler(StreamingHandler, ChangingHandler):
    """A handler that answers with trajectories."""

    async def answer_trajectory(self, status: int, trajectory: TrajectoryAnswer) -> None:
        """Send a trajectory; a long one as it comes from the database."""
        self.set_header("ETag", trajectory.tag)
        size = trajectory.size
        if size <= CHUNK_BYTES and trajectory.is_in_memory:
            self.answer_bytes(status, trajectory.whole())
            return
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.set_header("Content-Length", size)
        try:
            await self.stream(trajectory.chunks())
        except NotFound as error:
            raise ProblemError(problems.NOT_FOUND, str(error)) from None

    def answer_head(self, status: int, head: KeyedAnswer) -> None:
        """Send a trajectory without its steps, as it was after what was done."""
        self.set_header("ETag", head.tag)
        self.set_header("Location", f"/v1/trajectories/{head.id}")
        self.answer_bytes(status, head.body)

    async def changed(
        self, trajectory_id: UUID, change: TrajectoryChangeName, action: Action
    ) -> None:
        """Record a change in the audit and publish it; a replayed answer was recorded before."""
        if self.is_replayed:
            return
        await record(self, action, trajectory_id)
        told = TrajectoryChanged(id=trajectory_id, change=change)
        self.services.events.publish(self.organization_id, "trajectory", told)
