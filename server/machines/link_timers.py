"""When each link is to be ticked next: one clock for all of them, which at rest does nothing."""

import asyncio
import math
from collections.abc import Iterator
from typing import Final, Protocol

TICK_SECONDS: Final = 0.25
"""How late a tick may be; all that are due within it are ticked together."""


class TimedLink(Protocol):
    """A link that says when time next means something to it, infinite where it never does."""

    machine_id: str

    @property
    def due_at(self) -> float:
        """That time, by the clock of the loop."""

    def tick(self) -> None:
        """Let it notice that time has passed."""


class LinkTimers:
    """Each link waits in one place, by the tick that it is due at.

    So a second costs what happens in it, however many links there are.  Whoever ticks them sleeps
    until a link is due, and is woken when one is to be ticked earlier.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, dict[TimedLink, None]] = {}
        self._tick_of: dict[TimedLink, int] = {}
        self._passed: int | None = None
        self._woken: asyncio.Future[None] | None = None
        self._wakes_at: int | None = None

    def schedule(self, link: TimedLink, due_at: float) -> None:
        """Have a link ticked at this time or soon after, unless it is before that anyway."""
        if math.isinf(due_at):
            return
        tick = math.ceil(due_at / TICK_SECONDS)
        if self._passed is not None:
            tick = max(tick, self._passed + 1)
        before = self._tick_of.get(link)
        if before is not None and before <= tick:
            return
        self.forget(link)
        self._tick_of[link] = tick
        self._waiting.setdefault(tick, {})[link] = None
        if self._wakes_at is None or tick < self._wakes_at:
            self._wake()

    def forget(self, link: TimedLink) -> None:
        """Tick a link no more."""
        tick = self._tick_of.pop(link, None)
        if tick is not None:
            waiting = self._waiting[tick]
            del waiting[link]
            if not waiting:
                del self._waiting[tick]

    def due(self, now: float) -> Iterator[TimedLink]:
        """Take out those whose time has come, one by one; the caller takes all of them."""
        tick = math.floor(now / TICK_SECONDS)
        late = range(tick + 1 if self._passed is None else self._passed + 1, tick + 1)
        self._passed = tick
        # At first, or after a long sleep, there may be more ticks than links.
        is_few = 0 < len(late) <= len(self._waiting)
        for each in late if is_few else sorted(one for one in self._waiting if one <= tick):
            while waiting := self._waiting.get(each):
                link = next(iter(waiting))
                self.forget(link)
                yield link

    async def until_due(self) -> None:
        """Sleep until a link is due; now and then nothing is, when this returns."""
        loop = asyncio.get_running_loop()
        self._woken, self._wakes_at = loop.create_future(), self._next_tick()
        timer = None
        if self._wakes_at is not None:
            timer = loop.call_at(self._wakes_at * TICK_SECONDS, self._wake)
        try:
            await self._woken
        finally:
            self._woken = None
            if timer is not None:
                timer.cancel()

    def _next_tick(self) -> int | None:
        # With many links the next one is it nearly always, and nothing is searched.
        following = None if self._passed is None else self._passed + 1
        return following if following in self._waiting else min(self._waiting, default=None)

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)
