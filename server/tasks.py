"""Background tasks: each has a name, is kept until it ends, and never fails without a word.

Three kinds: ``start`` for a task that its maker awaits, ``start_and_report`` for one that nobody
awaits, and ``supervise`` for one that runs as long as the program does.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from enum import Enum, auto
from typing import Any, Final, TypeVar

from schemas.programs.pauses import Pauses

logger = logging.getLogger(__name__)

CANCEL_AGAIN_SECONDS: Final = 2.0

T = TypeVar("T")


class OnFailure(Enum):
    """What the failure of a permanent task means."""

    RESTART = auto()
    """The rest is of use without it for a moment: it begins again after a pause."""

    END_PROGRAM = auto()
    """Nothing is of use without it: ``until_fatal`` raises, and the program should end."""


class Tasks:
    """The background tasks of one part, which closes them when it ends.

    ``failures`` counts by name how often a task failed that was supervised or reported.
    """

    def __init__(self) -> None:
        self.failures: Counter[str] = Counter()
        self._running: set[asyncio.Task[Any]] = set()
        self._fatal_error: Exception | None = None
        self._has_fatal_error = asyncio.Event()

    def start(self, coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Run a coroutine in the background and keep it until it ends.

        The caller awaits it, or takes its exception in another way.
        """
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def start_and_report(self, coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """As ``start``, for a task that nobody awaits: what it raises is logged."""
        task = self.start(coroutine, name)
        task.add_done_callback(self._report)
        return task

    def supervise(
        self,
        run: Callable[[], Coroutine[Any, Any, None]],
        name: str,
        on_failure: OnFailure = OnFailure.RESTART,
    ) -> asyncio.Task[None]:
        """Run what is to run as long as the program; it is over when it returns or is cancelled.

        When it raises, that is logged, and it begins again or ends the program.
        """
        self.failures[name] += 0  # A counter is seen to rise only where it has been seen before.
        work = self._run_for_ever if on_failure is OnFailure.RESTART else self._run_once
        return self.start(work(run, name), name)

    async def until_fatal(self) -> None:
        """Wait until a task fails without which the program is of no use; raise what it raised."""
        await self._has_fatal_error.wait()
        assert self._fatal_error is not None  # noqa: S101  set before the event
        raise self._fatal_error

    async def wait(self, timeout: float) -> None:
        """Let the running tasks end for ``timeout`` seconds, and those that they start then."""
        give_up_at = time.monotonic() + timeout
        while self._running and (left := give_up_at - time.monotonic()) > 0:
            await asyncio.wait(set(self._running), timeout=left)
            await asyncio.sleep(0)  # One that had ended before is taken out by now.

    async def close(self, timeout: float) -> None:
        """Let the running tasks end for ``timeout`` seconds, then cancel what is left.

        Again and again: up to Python 3.11, asyncio.wait_for loses a cancellation that comes with
        what it waits for.
        """
        await self.wait(timeout)
        while self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(set(self._running), timeout=CANCEL_AGAIN_SECONDS)
            await asyncio.sleep(0)

    async def _run_for_ever(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        pauses = Pauses()
        while True:
            begun_at = time.monotonic()
            try:
                return await run()
            except Exception:  # whatever it is, the task is needed
                pause = pauses.after(time.monotonic() - begun_at)
                self.failures[name] += 1
                logger.exception("task %s failed and begins again in %g s", name, pause)
            await asyncio.sleep(pause)

    async def _run_once(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        try:
            await run()
        except Exception as error:  # noqa: BLE001  whoever ends the program is given it
            self.failures[name] += 1
            logger.critical("task %s failed, and the program cannot go on: %s", name, error)
            self._fatal_error = self._fatal_error or error
            self._has_fatal_error.set()

    def _report(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures[task.get_name()] += 1
            logger.error("task %s failed", task.get_name(), exc_info=error)


async def at_most(seconds: float, awaited: Awaitable[object]) -> None:
    """Wait for something, but no longer than so many seconds: whether it came is not said."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await awaited
