"""What the operations on trajectories share: their answers, and telling of changes."""

from uuid import UUID

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.events import TrajectoryChanged, TrajectoryChangeName
from schemas.steps.reviews import Editor
from server.errors import NotFound
from server.trajectories.answers import KeyedAnswer, TrajectoryAnswer
from server.web.auditing import record
from server.web.changes import ChangingHandler
from server.web.handler import ApiHandler
from server.web.streaming import CHUNK_BYTES, StreamingHandler


def editor_of(handler: ApiHandler) -> Editor:
    """Whoever asks, as the author or the reviewer of a trajectory."""
    caller = handler.principal
    return Editor(token_id=caller.token_id, token_name=caller.token_name, user_id=caller.user_id)


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

    async def answer_edit(
        self, answer: KeyedAnswer, action: Action, *, note: str | None = None
    ) -> None:
        """Tell of a change of a trajectory that is there, and send what it made of it."""
        self.note_replay(answer.is_replayed)
        await self.changed(
            answer.id, "changed", action, note=note, has_withdrawn=answer.has_withdrawn
        )
        self.set_header("ETag", answer.tag)
        self.set_header("Location", f"/v1/trajectories/{answer.id}")
        self.answer_bytes(200, answer.body)

    @property
    def editor(self) -> Editor:
        """Whoever asks, as the author or the reviewer of a trajectory."""
        return editor_of(self)

    async def changed(
        self,
        trajectory_id: UUID,
        change: TrajectoryChangeName,
        action: Action,
        *,
        note: str | None = None,
        has_withdrawn: bool = False,
    ) -> None:
        """Record a change in the audit and publish it; a replayed answer was recorded before.

        ``has_withdrawn`` is whether it has ended an approval, which is recorded as well.
        """
        if self.is_replayed:
            return
        await record(self, action, trajectory_id, note=note)
        if has_withdrawn:
            await record(self, "trajectory.approval_withdrawn", trajectory_id)
        told = TrajectoryChanged(id=trajectory_id, change=change)
        self.services.events.publish(self.organization_id, "trajectory", told)
