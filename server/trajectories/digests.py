"""The digests of steps that outgrew their documents, which are read before the transaction."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from server.errors import WrongState
from server.store.trajectories.documents import Segment, StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.trajectories.rendering import step_chunks

T = TypeVar("T")

_TRIES: Final = 5
"""Of what grows while it is read; nobody ends a generation while steps are still appended."""

_NOTHING_INLINE: Final[dict[str, Any]] = {"trajectory_data": None, "pieces": ()}


class _Unread(Exception):  # noqa: N818  no error: what has to be read first
    """The segments of a trajectory, whose digest is not known yet."""

    def __init__(self, trajectory: StoredTrajectory) -> None:
        super().__init__()
        self.trajectory = trajectory


class StepsDigests:
    """The digests of the steps of trajectories, of which long ones are read once.

    A transaction has to be short.  What is in segments never changes, so it is read before: where
    it is not yet, ``of`` ends the transaction, and ``known_for`` reads and begins it again.
    """

    def __init__(self, parts: PartStore) -> None:
        self._parts = parts
        self._known: dict[tuple[Segment, ...], Any] = {(): hashlib.sha256()}

    def of(self, trajectory: StoredTrajectory) -> bytes:
        """The digest of its steps; only within ``known_for``."""
        if trajectory.segments not in self._known:
            raise _Unread(trajectory)
        hashed = self._known[trajectory.segments].copy()
        inline = b",".join(trajectory.inline_steps)
        hashed.update(b"," + inline if trajectory.segments and inline else inline)
        digest: bytes = hashed.digest()
        return digest

    async def known_for(self, work: Callable[[], Awaitable[T]]) -> T:
        """What ``work`` returns, once all that it asks for is known.  Raises WrongState."""
        for _ in range(_TRIES):
            try:
                return await work()
            except _Unread as unread:
                await self._read(unread.trajectory)
        raise WrongState("steps are still appended to it: end that first, then try again")

    async def _read(self, trajectory: StoredTrajectory) -> None:
        hashed = hashlib.sha256()
        async for text in step_chunks(self._parts, replace(trajectory, **_NOTHING_INLINE)):
            hashed.update(text)
        self._known[trajectory.segments] = hashed
