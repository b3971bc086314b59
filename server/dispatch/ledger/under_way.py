"""The commands that are being worked on: everybody who asks for one waits for the same task."""

import asyncio
import logging
import traceback
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from schemas.http.problems import InvalidRequestError, ProblemError
from server.clock import seconds_until
from server.machines.link.errors import LinkLostError, SubmissionRefusedError
from server.store.commands import Answer
from server.store.errors import StoreUnavailable
from server.tasks import Tasks

logger = logging.getLogger(__name__)

PLACES_LOGGED = 5

RequestKey = tuple[UUID, str]
"""A command's id and the fingerprint of what was asked for under its key.

Only the record tells whose the key is, never that somebody else asks under it at the same time.
"""

Work = asyncio.Task[tuple[Answer, bool]]
"""Ends with the final answer to a command, and whether it was given before."""

_FORESEEN = (
    *(ProblemError, InvalidRequestError, SubmissionRefusedError, LinkLostError),
    StoreUnavailable,
)
"""What ends the work on a command without an answer, and is said to whoever asks."""


class CommandsUnderWay:
    """The tasks that work on commands; each outlives its callers' patience."""

    def __init__(self, background: Tasks) -> None:
        self._background = background
        self._work: dict[RequestKey, Work] = {}

    def __len__(self) -> int:
        return len(self._work)

    def find(self, request: RequestKey) -> Work | None:
        """The work on a request, if there is any."""
        return self._work.get(request)

    def begin(self, request: RequestKey, work: Coroutine[Any, Any, tuple[Answer, bool]]) -> Work:
        """Work on a request; whoever asks the same meanwhile waits for it, or for an earlier."""
        task = self._background.start(work, f"command {request[0]}")
        self._work.setdefault(request, task)
        task.add_done_callback(lambda ended: self._ended(request, ended))
        return task

    def _ended(self, request: RequestKey, task: Work) -> None:
        if self._work.get(request) is task:
            del self._work[request]
        if task.cancelled():
            return
        # Everybody who waited may have given up.  What they missed is theirs to ask for again; but
        # a mistake of ours would be heard of by nobody.
        error = task.exception()
        if error is not None and not isinstance(error, _FORESEEN):
            _log_mistake(request[0], error)


async def answer_of(work: Work, answer_by: int, too_late: ProblemError) -> tuple[Answer, bool]:
    """What the work ends with; the problem where it takes longer than ``answer_by`` (ms)."""
    done, _ = await asyncio.wait((work,), timeout=max(seconds_until(answer_by), 0))
    if not done:
        raise too_late
    return work.result()


def _log_mistake(command_id: UUID, error: BaseException) -> None:
    """Log where an error arose, and not its own words: they may repeat what was to be typed."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_LOGGED:]
    places = ", ".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    logger.error("command=%s failed: error=%s at %s", command_id, type(error).__name__, places)
