"""How many answers of any length are read, and sent, at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

MOST: Final = 24
MOST_OF_A_CALLER: Final = 6
"""A short one is over in milliseconds, so that so few keep the database and the processor busy."""

WAIT_SECONDS: Final = 5.0
MOST_WAITING: Final = 200
MOST_WAITING_OF_A_CALLER: Final = 50
"""So that the many of one do not keep others out, who may wait as well."""


class TooManyLongAnswersError(Exception):
    """As many are open as may be, and none ended in time."""


@dataclass
class _Caller:
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_OF_A_CALLER))
    answers: int = 0
    waiting: int = 0


class LongAnswers:
    """The places for answers that hold memory as long as their readers take.

    Nobody takes all of them, and what waits for one has read nothing from the database yet.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST)
        self._callers: dict[UUID, _Caller] = {}
        self._waiting = 0

    @asynccontextmanager
    async def place(self, caller_id: UUID) -> AsyncIterator[None]:
        """One place for as long as the block runs.

        Waits for it, but not long.  Raises TooManyLongAnswersError.
        """
        caller = self._callers.setdefault(caller_id, _Caller())
        caller.answers += 1
        try:
            await self._wait(caller)
            try:
                yield
            finally:
                self._free.release()
                caller.free.release()
        finally:
            caller.answers -= 1
            if not caller.answers:
                del self._callers[caller_id]

    async def _wait(self, caller: _Caller) -> None:
        """Take a place, at once where one is free."""
        if not (caller.free.locked() or self._free.locked()):
            await self._take(caller)
            return
        if self._waiting >= MOST_WAITING or caller.waiting >= MOST_WAITING_OF_A_CALLER:
            raise TooManyLongAnswersError
        self._waiting += 1
        caller.waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._take(caller)
        except TimeoutError:
            raise TooManyLongAnswersError from None
        finally:
            self._waiting -= 1
            caller.waiting -= 1

    async def _take(self, caller: _Caller) -> None:
        """One of the caller's places, and one of all."""
        await caller.free.acquire()
        try:
            await self._free.acquire()
        except BaseException:
            caller.free.release()
            raise
