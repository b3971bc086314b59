"""The commands that are being worked on: everybody who asks for one waits for the same task."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from uuid import UUID

from server.clock import seconds_until
from server.dispatch.command import CommandReply, Ended, Pending
from server.dispatch.questions.question import Refusal
from server.dispatch.refusals import RefusedError
from server.errors import StoreUnavailable
from server.tasks import Tasks

logger = logging.getLogger(__name__)

PLACES_LOGGED = 5

RequestKey = tuple[UUID, str]
"""A command's id and the fingerprint of what was asked for under its key.

Only the record tells whose the key is, never that somebody else asks under it at the same time.
"""

Work = asyncio.Task[CommandReply]


class PendingError(Exception):
    """The outcome of a command is not known yet."""

    def __init__(self, command_id: UUID) -> None:
        super().__init__(f"the outcome of {command_id} is not known yet")
        self.command_id = command_id


async def _reply_of(ending: Callable[[], Awaitable[Ended]]) -> CommandReply:
    """What becomes of a command whose end may be refused, or pending."""
    begun = ending()
    # It may last for days, and lets go of the text of an input: whoever waits must do so as well.
    del ending
    try:
        return await begun
    except RefusedError as error:
        return error.refusal
    except PendingError as error:
        return Pending(command_id=error.command_id)


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

    def begin(self, request: RequestKey, ending: Callable[[], Awaitable[Ended]]) -> Work:
        """Work on a request; whoever asks the same meanwhile waits for it, or for an earlier."""
        task = self._background.start(_reply_of(ending), f"command {request[0]}")
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
        if error is not None and not isinstance(error, StoreUnavailable):
            _log_mistake(request[0], error)


async def in_time(work: Work, answer_by: int, too_late: Pending | Refusal) -> CommandReply:
    """What the work ends with; ``too_late`` where it takes longer than ``answer_by`` (ms)."""
    done, _ = await asyncio.wait((work,), timeout=max(seconds_until(answer_by), 0))
    return work.result() if done else too_late


def _log_mistake(command_id: UUID, error: BaseException) -> None:
    """Log where an error arose, and not its own words: they may repeat what was to be typed."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_LOGGED:]
    places = ", ".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    logger.error("command=%s failed: error=%s at %s", command_id, type(error).__name__, places)
