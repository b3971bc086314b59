"""Turns: many want the same at once, few have it at a time, and nobody holds up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Lets ``places`` work at once, in the order in which they came.

    Who takes longer than ``seconds`` goes on working, but gives its place to the next: it may be
    waiting for somebody who never answers.
    """

    def __init__(self, places: int, seconds: float) -> None:
        self._seconds = seconds
        self._places = asyncio.Semaphore(places)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn; it is over with the block, or when its time is."""
        await self._places.acquire()
        has_place = True

        def give_place() -> None:
            nonlocal has_place
            if has_place:
                has_place = False
                self._places.release()

        end = asyncio.get_running_loop().call_later(self._seconds, give_place)
        try:
            yield
        finally:
            end.cancel()
            give_place()
