"""What the operations on trajectories share: their answers, and telling of changes."""

from typing import Protocol
from uuid import UUID

from pydantic import ValidationError

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.events import TrajectoryChanged, TrajectoryChangeName
from schemas.steps.reviews import Editor
from server.api.trajectories.paths import StepPath, TrajectoryPath
from server.errors import NotFound
from server.trajectories.answers import KeyedAnswer, TrajectoryAnswer
from server.web.auditing import record
from server.web.changes import ChangingHandler, refusals
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler
from server.web.streaming import CHUNK_BYTES, StreamingHandler


class OfMachine(Protocol):
    """A trajectory, and the machine that it was recorded on, if any."""

    @property
    def id(self) -> UUID:
        """The trajectory's."""

    @property
    def machine_id(self) -> str | None:
        """The machine's; None where it was not recorded."""


def editor_of(handler: ApiHandler) -> Editor:
    """Whoever asks, as the author or the reviewer of a trajectory."""
    caller = handler.principal
    return Editor(token_id=caller.token_id, token_name=caller.token_name, user_id=caller.user_id)


class AnsweringHandler(StreamingHandler, ChangingHandler):
    """A handler that answers with trajectories.

    For a token that is bound to pools one that was recorded on a machine outside of them does not
    exist.
    """

    async def authorize(self, endpoint: Endpoint) -> None:
        """Find out who calls, and whether the trajectory that the path names exists for them."""
        await super().authorize(endpoint)
        if self.principal.pools is None:
            return
        named = StepPath if "number" in self.path_kwargs else TrajectoryPath
        try:
            path = named.model_validate(self.path_kwargs)
        except ValidationError:
            return  # It names none, or is about to be refused.
        await self._check_reach(path)

    async def _check_reach(self, path: TrajectoryPath) -> None:
        with refusals(path.subject):
            reach = self.services.machines.reach
            await reach.check_trajectory(self.principal, path.trajectory_id)

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
        await self.changed(answer, "changed", action, note=note, has_withdrawn=answer.has_withdrawn)
        self.set_header("ETag", answer.tag)
        self.set_header("Location", f"/v1/trajectories/{answer.id}")
        self.answer_bytes(200, answer.body)

    @property
    def editor(self) -> Editor:
        """Whoever asks, as the author or the reviewer of a trajectory."""
        return editor_of(self)

    async def changed(
        self,
        trajectory: OfMachine,
        change: TrajectoryChangeName,
        action: Action,
        *,
        note: str | None = None,
        has_withdrawn: bool = False,
    ) -> None:
        """Record a change in the audit and publish it; a replayed answer was recorded before.

        ``has_withdrawn`` is whether it has ended an approval, which is recorded as well.
        """
        await tell_changed(self, trajectory, change, action, note=note, has_withdrawn=has_withdrawn)


async def tell_changed(
    handler: ChangingHandler,
    trajectory: OfMachine,
    change: TrajectoryChangeName,
    action: Action,
    *,
    note: str | None = None,
    has_withdrawn: bool = False,
) -> None:
    """As `AnsweringHandler.changed`, of any handler."""
    if handler.is_replayed:
        return
    await record(handler, action, trajectory.id, note=note)
    if has_withdrawn:
        await record(handler, "trajectory.approval_withdrawn", trajectory.id)
    told = TrajectoryChanged(id=trajectory.id, change=change)
    handler.services.events.publish(
        handler.organization_id, "trajectory", told, machine_id=trajectory.machine_id
    )
