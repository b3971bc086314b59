"""Virtual time: several processes, each with an event loop of its own, in one thread.

Nothing here waits.  The clock goes to the next thing that is due, and everything random comes from
one generator, so that a seed is a whole history, which can be seen again.
"""

import asyncio
import heapq
import itertools
from asyncio.events import _set_running_loop  # what asyncio's own loops call
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from random import Random
from typing import Any, TypeVar, cast

T = TypeVar("T")


class SimulationError(Exception):
    """A seed broke a promise; the message says which."""


class Due:
    """Something that a process will do, unless it is cancelled or the process ends before."""

    __slots__ = ("arguments", "callback", "process")

    process: "Process"
    callback: Callable[..., object] | None
    arguments: tuple[Any, ...]

    def cancel(self) -> None:
        """Let it not happen."""
        self.callback = None


_new = Due.__new__
"""Makes one, whose slots are set by whoever makes it: an ``__init__`` would take twice as long."""


class World:
    """The clock, the dice and the list of what is due.

    ``trace`` notes what happens, where ``trace_lines`` is a list; ``faults`` and ``facts`` count.
    """

    def __init__(self, seed: int, *, tracing: bool = False) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.now = 0.0
        self.calm_at = 0.0
        """When the last fault so far is over, with all that it delays."""
        self.trace_lines: list[str] | None = [] if tracing else None
        self.faults: Counter[str] = Counter()
        self.facts: Counter[str] = Counter()
        self.violations: list[str] = []
        self.paused: set[str] = set()
        """The machines that an operator knows to be paused."""
        self.controlled: dict[str, str] = {}
        """The machines of which a person knows to have control, and their leases."""
        self.private: set[str] = set()
        """The leases of which a person knows that they are private."""
        self.wanted: set[str] = set()
        """The machines of which a person has asked for control, whatever came of it."""
        self.given: dict[str, str] = {}
        """The lease of each machine that was given last; an answer can tell of an earlier one."""
        self.must_be_released: Callable[[str], None] = _nothing_to_release
        """Looks whether nothing is held on a machine, of which somebody has just got control."""
        self.hand_must_be_released: Callable[[str], None] = _nothing_to_release
        """Looks whether nothing is held by a hand on a machine, which has ended."""
        self.hands = Random(f"hands of {seed}")
        """Dice of their own: a life in which nobody works by hand has no use for them."""
        self.actions = Random(f"actions of {seed}")
        """And these: a life in which nobody sends several actions has no use for them."""
        self.sights = Random(f"sights of {seed}")
        """And these: a life in which nobody names an element has no use for them."""
        self.runs = Random(f"runs of {seed}")
        """And these: a life in which nothing is run has no use for them."""
        self.looks = Random(f"looks of {seed}")
        """And these: a life in which nobody looks on has no use for them."""
        self.run_of_life: Any = None
        """The run of this life, if it has one: see `tests.simulation.runs`."""
        self.moved = 0.0
        """By how many seconds all wall clocks were moved on, while nothing else took its time."""
        self.ready: deque[Due] = deque()
        """What is due now."""
        self.timers: list[tuple[float, int, Due]] = []
        """A heap of what is due later, in the order of ``next_turn`` where it is due at once."""
        self.next_turn = itertools.count().__next__
        self._numbers = itertools.count()
        self._processes: list[Process] = []
        self.outside = Process(self, "outside")
        self.current = self._running = self.outside

    def is_private(self, machine_id: str) -> bool:
        """Whether a person knows to have private control of a machine."""
        return self.controlled.get(machine_id) in self.private

    def trace(self, what: str, *facts: object) -> None:
        """Note what happens, for whoever reads this seed's history."""
        if self.trace_lines is not None:
            line = " ".join(str(fact) for fact in (what, *facts))
            self.trace_lines.append(f"{self.now:9.4f} {self.current.name:9s} {line}")

    def violated(self, what: str) -> None:
        """Note that a promise is broken; the seed ends soon."""
        self.trace("VIOLATION", what)
        self.violations.append(f"at {self.now:.4f}: {what}")

    def between(self, low: float, high: float) -> float:
        """A random length of time, in seconds."""
        return low + (high - low) * self.random.random()

    def chance(self, probability: float) -> bool:
        """Whether something happens that happens so often."""
        return self.random.random() < probability

    def aftermath(
        self, seconds: float, callback: Callable[..., object], *arguments: object
    ) -> None:
        """Have a fault end, after so many seconds, with this."""
        self.calm_at = max(self.calm_at, self.now + seconds)
        self.outside.call_later(seconds, callback, *arguments)

    def restart(self, start: Callable[[], object], longest: float) -> None:
        """Have something start again before so many seconds have passed."""
        self.aftermath(self.between(0.1, longest), start)

    def number(self) -> int:
        """A number that nothing else has."""
        return next(self._numbers)

    def add(self, process: "Process") -> None:
        """A process begins."""
        self._processes.append(process)

    def run(self, until: float, is_over: Callable[[], bool]) -> None:
        """Let everything happen until then, or until it is over and nothing is left for now.

        May be called by something that happens, for a time within which it goes on.
        """
        ready, timers, before = self.ready, self.timers, self.current
        try:
            while True:
                if ready:
                    due = ready.popleft()
                elif is_over():
                    return
                elif not timers or timers[0][0] > until:
                    self.now = max(self.now, until)
                    return
                else:
                    when, _, due = heapq.heappop(timers)
                    # Something that went on for longer inside may have passed it.
                    if when > self.now and due.callback is not None:
                        self.now = when
                process, callback = due.process, due.callback
                if callback is None:
                    continue
                if process.state is not RUNNING:
                    process.park(due)
                    continue
                if process is not self.current:
                    self._enter(process)
                callback(*due.arguments)
        except Exception as error:
            self.violated(f"{self.current.name}: a callback raised {error!r}")
            raise
        finally:
            self._enter(before)

    def _enter(self, process: "Process") -> None:
        self.current = process
        # No coroutine runs outside.  Each change costs asyncio a call of the system.
        if process is not self._running and process is not self.outside:
            self._running = process
            _set_running_loop(process.as_loop)

    def end(self) -> None:
        """Everything stops; what was never finished is put away without a word."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.discard()
        _set_running_loop(None)


def _nothing_to_release(_: str) -> None:
    """There are no machines yet."""


class State(Enum):
    """Whether a process does what it has to."""

    RUNNING = auto()
    PAUSED = auto()
    DEAD = auto()


RUNNING, DEAD = State.RUNNING, State.DEAD
"""Looked up once: an enumeration takes long to find its members."""


class Process:
    """A process of the simulation: an event loop, whose I/O is a world's.

    It has of `asyncio.AbstractEventLoop` what tasks, futures and timers need, and nothing else.
    ``skew`` is by how many seconds its wall clock is wrong.
    """

    def __init__(self, world: World, name: str, *, skew: float = 0.0) -> None:
        self.world = world
        self.name = name
        self.skew = skew
        self.state = State.RUNNING
        self._parked: list[Due] = []
        self.as_loop = cast("asyncio.AbstractEventLoop", self)
        self.create_future: Callable[[], asyncio.Future[Any]] = partial(
            asyncio.Future, loop=self.as_loop
        )
        self._tasks: list[asyncio.Task[Any]] = []
        world.add(self)

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, and never does anything again."""
        return self.state is State.DEAD

    def kill(self) -> None:
        """End it, as SIGKILL would: nothing that it has begun is finished."""
        self.state = State.DEAD
        self._parked.clear()

    def pause(self) -> None:
        """Stop it, as SIGSTOP would."""
        if self.state is State.RUNNING:
            self.state = State.PAUSED

    def wake(self) -> None:
        """Let it go on with whatever came meanwhile."""
        if self.state is State.PAUSED:
            self.state = State.RUNNING
            self.world.ready.extend(self._parked)
            self._parked.clear()

    def park(self, due: Due) -> None:
        """Keep for later what is due while the process does nothing."""
        if self.state is State.PAUSED:
            self._parked.append(due)

    def discard(self) -> None:
        """Put away the tasks of a process that is dead."""
        for task in self._tasks:
            if not task.done():
                _keep_silent(task)
                coroutine = task.get_coro()
                if isinstance(coroutine, Coroutine):
                    # One that waits for something as it ends does not end so.
                    with suppress(RuntimeError):
                        coroutine.close()
        self._tasks.clear()

    # What asyncio asks of a loop.

    def time(self) -> float:
        """Seconds of the world's clock."""
        return self.world.now

    get_debug = bool
    """Never: asked with each future, and answered by `bool()`."""

    def is_running(self) -> bool:
        """It is this process's turn."""
        return self.world.current is self

    def is_closed(self) -> bool:
        """It has ended."""
        return self.is_dead

    def call_soon(
        self, callback: Callable[..., object], *arguments: Any, context: object = None
    ) -> Due:
        """Do this after what is due already."""
        due = _new(Due)
        due.process, due.callback, due.arguments = self, callback, arguments
        if self.state is not DEAD:
            self.world.ready.append(due)
        return due

    def call_at(
        self, when: float, callback: Callable[..., object], *arguments: Any, context: object = None
    ) -> Due:
        """Do this then."""
        due = _new(Due)
        due.process, due.callback, due.arguments = self, callback, arguments
        if self.state is not DEAD:
            world = self.world
            heapq.heappush(world.timers, (when, world.next_turn(), due))
        return due

    def call_later(
        self, delay: float, callback: Callable[..., object], *arguments: Any, context: object = None
    ) -> Due:
        """Do this after so many seconds."""
        # As `call_at`, which is not called: this is what happens most.
        world, due = self.world, _new(Due)
        due.process, due.callback, due.arguments = self, callback, arguments
        if self.state is not DEAD:
            heapq.heappush(world.timers, (world.now + delay, world.next_turn(), due))
        return due

    def create_task(
        self,
        coroutine: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: str | None = None,
        context: object = None,
    ) -> asyncio.Task[T]:
        """A task of this loop."""
        task: asyncio.Task[T] = asyncio.Task(coroutine, loop=self.as_loop, name=name)
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An exception that nobody took."""
        if self.state is not State.DEAD:
            self.world.violated(f"{self.name}: {context.get('message')} {context.get('exception')}")


def _keep_silent(task: asyncio.Task[Any]) -> None:
    """That it is destroyed before its end is what is wanted."""
    vars_of: Any = task
    vars_of._log_destroy_pending = False
