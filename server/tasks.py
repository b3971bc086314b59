"""Background tasks that have a name, a reference and a place for their exception."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Tasks:
    """The background tasks of one part, which closes them when it ends."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Run a coroutine in the background and keep it until it ends."""
        task = asyncio.create_task(coroutine, name=name)  # noqa: TID251 - the one wrapper
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def start_and_report(self, coroutine: Coroutine[Any, Any, None], name: str) -> None:
        """As ``start``, for a task that nobody awaits: what it raises is logged."""
        self.start(coroutine, name).add_done_callback(_report)

    async def wait(self, timeout: float) -> None:
        """Let the running tasks end for ``timeout`` seconds, and those that they start then."""
        give_up_at = time.monotonic() + timeout
        while self._running and (left := give_up_at - time.monotonic()) > 0:
            await asyncio.wait(set(self._running), timeout=left)
            await asyncio.sleep(0)  # One that had ended before is taken out by now.

    async def close(self, timeout: float) -> None:
        """Let the running tasks end for ``timeout`` seconds, then cancel what is left."""
        await self.wait(timeout)
        while self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(set(self._running))
            await asyncio.sleep(0)


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("task %s failed", task.get_name(), exc_info=error)
