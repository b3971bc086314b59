"""Blocking work on the event loop gets at most half of its time."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

BLOCKING_BYTES: Final = 256 * 1024
BLOCKING_VALUES: Final = 2000
"""From here on parsing a body takes more than about a millisecond."""


class BlockingThrottle:
    """One piece of blocking work at a time, each followed by a pause of the same length.

    Such a piece, as the parsing of a long body, holds up all other requests for as long as it
    takes.  Were those of several senders to follow one another, another request would wait for
    one at each of its own turns of the loop; so half of the time is for others.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """While something blocks the event loop: it takes long and awaits nothing."""
        async with self._lock:
            began_at = time.perf_counter()
            try:
                yield
            finally:
                await asyncio.sleep(time.perf_counter() - began_at)
