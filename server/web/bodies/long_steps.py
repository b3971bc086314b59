"""Long steps on the event loop take turns with everything else."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

LONG_BYTES: Final = 256 * 1024
LONG_VALUES: Final = 2000
"""From here on parsing a body takes more than about a millisecond."""


class LongSteps:
    """One long step at a time, each followed by a rest of the same length.

    A step holds up everybody for as long as it takes.  Were several senders' steps to follow one
    another, another request would wait for one at each of its own turns of the loop; so half of
    the time is for others.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """While something is done that takes long without awaiting anything."""
        async with self._lock:
            began_at = time.perf_counter()
            try:
                yield
            finally:
                await asyncio.sleep(time.perf_counter() - began_at)
