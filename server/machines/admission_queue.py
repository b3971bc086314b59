"""Bounds how many machines are admitted at once, and lets none of them hold up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AdmissionQueue:
    """Lets ``limit`` callers work at once, in the order in which they came.

    Who takes longer than ``seconds`` goes on working, but lets the next one begin: it may be
    waiting for a machine that never answers.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self._seconds = seconds
        self._semaphore = asyncio.Semaphore(limit)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn; it is over with the block, or when its time is."""
        await self._semaphore.acquire()
        is_held = True

        def release() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._semaphore.release()

        end = asyncio.get_running_loop().call_later(self._seconds, release)
        try:
            yield
        finally:
            end.cancel()
            release()
