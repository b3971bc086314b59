"""Lets the real code tell the time, and roll dice, in the simulated world that runs.

The core takes its clocks as arguments; what is left is a handful of names, which stand for the
world's as long as :func:`simulated` lasts.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from unittest.mock import patch

import machine_client.journal.journal
import machine_client.work.batch
import machine_client.work.elements
import machine_client.work.worker
import server.clock
import server.dispatch.control
import server.dispatch.hand.ending
import server.dispatch.hand.hand
import server.dispatch.ledger.claims
import server.dispatch.ledger.ledger
import server.dispatch.ledger.resolver
import server.dispatch.stretches
import server.runs.course
import server.runs.ending
import server.runs.executor
import server.runs.halting
import server.runs.runs
import server.runs.stepping
import server.runs.trying
from schemas.programs.failpoints import Failpoint
from tests.simulation.world import World

_sleep = asyncio.sleep

FIRST_MOMENT = 1_700_000_000
"""When every simulated history begins, in seconds since 1970."""


_RUNS = (
    *(server.runs.course, server.runs.ending, server.runs.executor, server.runs.halting),
    *(server.runs.runs, server.runs.stepping, server.runs.trying),
)


class Clocks:
    """Whatever the real code asks, about the world that is ``world`` now."""

    world: World
    passed: Callable[[Failpoint], None]
    """Called at each of the code's failpoints, in the process that passes it."""

    def seconds(self) -> float:
        """A monotonic clock."""
        return self.world.now

    def nanoseconds(self) -> int:
        """The wall clock of the process whose turn it is, since 1970."""
        world = self.world
        seconds = FIRST_MOMENT + world.now + world.moved + world.current.skew
        return round(seconds * 1_000_000_000)

    def now(self) -> datetime:
        """The same clock, cut to milliseconds."""
        return datetime.fromtimestamp(self.nanoseconds() // 1_000_000 / 1000, UTC)

    def randomness(self, size: int) -> bytes:
        """What the operating system would give."""
        return self.world.random.randbytes(size)

    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that runs: asyncio's own answer takes a call of the system."""
        return self.world.current.as_loop

    async def sleep(self, seconds: float) -> None:
        """As asyncio's own, which looks for its loop and takes back a timer that has rung."""
        if seconds <= 0:
            await _sleep(0)
            return
        process = self.world.current
        woken = process.create_future()
        process.call_later(seconds, _wake, woken)
        await woken

    async def find(self, *asked: object) -> object:
        """Where a step of the run of this life belongs."""
        return await self.world.run_of_life.find(*asked)

    async def expected(self, *asked: object) -> object:
        """What the screen shows once such a step is done."""
        return await self.world.run_of_life.expected(*asked)

    def reached(self, point: Failpoint) -> None:
        """A failpoint is passed."""
        self.passed(point)


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)


@contextmanager
def simulated() -> Iterator[Clocks]:
    """Until the end of the block the real code lives in ``world`` of what is given."""
    clocks = Clocks()
    monotonic = SimpleNamespace(monotonic=clocks.seconds, perf_counter=clocks.seconds)
    with ExitStack() as stack:
        for module, name, stand_in in (
            (asyncio, "get_running_loop", clocks.loop),
            (asyncio.events, "get_running_loop", clocks.loop),
            (asyncio, "sleep", clocks.sleep),
            (uuid, "os", SimpleNamespace(urandom=clocks.randomness)),
            (server.clock, "time", SimpleNamespace(time_ns=clocks.nanoseconds)),
            (server.dispatch.ledger.claims, "now", clocks.now),
            (server.dispatch.ledger.ledger, "now", clocks.now),
            (server.dispatch.ledger.resolver, "now", clocks.now),
            (machine_client.journal.journal, "time", monotonic),
            (machine_client.work.worker, "time", monotonic),
            (machine_client.work.batch, "time", monotonic),
            (server.dispatch.control, "now", clocks.now),
            (server.dispatch.stretches, "now", clocks.now),
            (server.dispatch.stretches, "time", monotonic),
            (server.dispatch.hand.hand, "time", monotonic),
            (server.dispatch.hand.ending, "time", monotonic),
            *((module, "now", clocks.now) for module in _RUNS),
            (server.runs.stepping, "find", clocks.find),
            (server.runs.stepping, "expected", clocks.expected),
            (server.runs.course, "reached", clocks.reached),
            (server.runs.stepping, "reached", clocks.reached),
            (server.dispatch.ledger.ledger, "reached", clocks.reached),
            (machine_client.work.worker, "reached", clocks.reached),
            (machine_client.work.batch, "reached", clocks.reached),
            (machine_client.work.elements, "reached", clocks.reached),
        ):
            stack.enter_context(patch.object(module, name, stand_in))
        yield clocks
