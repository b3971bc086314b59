"""Background tasks of the machine client: each has a name, and none fails without a word.

A task that is needed as long as the program runs is supervised: what it raises is logged, and it
begins again.  What nothing else can go on without ends the program, so that whoever keeps it
running starts it anew.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from schemas.programs.pauses import Pauses

logger = logging.getLogger(__name__)


class Tasks:
    """The background tasks of a machine client, which closes them when it ends."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._fatal_error: Exception | None = None
        self._has_fatal_error = asyncio.Event()

    async def run(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        """Await what the program is for; raise what it raises, or what ends the program first."""
        main = self._start(coroutine, name)
        fatal = self._start(self._has_fatal_error.wait(), f"end of {name}")
        await asyncio.wait((main, fatal), return_when=asyncio.FIRST_COMPLETED)
        if self._fatal_error is not None:
            raise self._fatal_error
        await main

    def start_and_report(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        """Run what nobody awaits; what it raises is logged."""
        self._start(coroutine, name).add_done_callback(_report)

    def supervise(
        self, run: Callable[[], Coroutine[Any, Any, None]], name: str
    ) -> asyncio.Task[None]:
        """Run what is to run as long as the program, or until its task is cancelled.

        When it raises, that is logged, and it begins again after a pause; when it returns, it is
        over.
        """
        return self._start(_run_for_ever(run, name), name)

    def end_program(self, error: Exception, name: str) -> None:
        """Have :meth:`run` raise this error of a part that nothing can go on without."""
        logger.critical("%s failed, and the machine client cannot go on: %r", name, error)
        self._fatal_error = self._fatal_error or error
        self._has_fatal_error.set()

    async def close(self) -> None:
        """Cancel what still runs, and wait for its end."""
        while self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(set(self._running))
            await asyncio.sleep(0)  # One that has ended is taken out by now.

    def _start(self, coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(coroutine, name=name)  # noqa: TID251 - the one wrapper
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task


async def _run_for_ever(run: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
    pauses = Pauses()
    while True:
        begun_at = time.monotonic()
        try:
            return await run()
        except Exception:  # whatever it is, the task is needed
            pause = pauses.after(time.monotonic() - begun_at)
            logger.exception("task %s failed and begins again in %g s", name, pause)
        await asyncio.sleep(pause)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("task %s failed", task.get_name(), exc_info=error)
