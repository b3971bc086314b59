"""Does something again and again beside the program, for as long as a lease is held."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

RENEW_SECONDS = 10.0
"""A lease lives for 30 s: two of three renewals may be lost."""


class AsyncRenewal:
    """Renews by a task of the program's loop."""

    def __init__(self, renew: Callable[[], Awaitable[bool]]) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(renew), name="renew control")

    async def stop(self) -> None:
        """Renew no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, renew: Callable[[], Awaitable[bool]]) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            if not await renew():
                return


class Renewal:
    """Renews by a thread."""

    def __init__(self, renew: Callable[[], bool]) -> None:
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(renew,), name="renew control", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Renew no more."""
        self._is_over.set()
        self._thread.join()

    def _run(self, renew: Callable[[], bool]) -> None:
        while not self._is_over.wait(RENEW_SECONDS):
            if not renew():
                return
