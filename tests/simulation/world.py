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
from enum import Enum, auto
from random import Random
from typing import Any, TypeVar, cast

T = TypeVar("T")


class SimulationError(Exception):
    """A seed broke a promise; the message says which."""


class Due:
    """Something that a process will do, unless it is cancelled or the process ends before."""

    __slots__ = ("arguments", "callback", "cancelled", "process", "when")

    def __init__(
        self, process: "Process", when: float, callback: Callable[..., object], arguments: Any
    ) -> None:
        self.process = process
        self.when = when
        self.callback = callback
        self.arguments = arguments
        self.cancelled = False

    def cancel(self) -> None:
        """Let it not happen."""
        self.cancelled = True


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
        self._numbers = itertools.count()
        self._ready: deque[Due] = deque()
        self._timers: list[tuple[float, int, Due]] = []
        self._processes: list[Process] = []
        self.outside = Process(self, "outside")
        self.current = self.outside

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

    def soon(self, due: Due) -> None:
        """Do this as soon as all that is due already is done."""
        self._ready.append(due)

    def later(self, due: Due) -> None:
        """Do this when its time comes."""
        heapq.heappush(self._timers, (due.when, next(self._numbers), due))

    def run(self, until: float, is_over: Callable[[], bool]) -> None:
        """Let everything happen until then, or until it is over and nothing is left for now.

        May be called by something that happens, for a time within which it goes on.
        """
        ready, timers = self._ready, self._timers
        before = self.current
        try:
            while True:
                while ready:
                    self._do(ready.popleft())
                if is_over():
                    return
                if not timers or timers[0][0] > until:
                    self.now = max(self.now, until)
                    return
                when, _, due = heapq.heappop(timers)
                if not due.cancelled:
                    # Something that went on for longer inside may have passed it.
                    self.now = max(self.now, when)
                    self._do(due)
        finally:
            self._enter(before)

    def _do(self, due: Due) -> None:
        process = due.process
        if due.cancelled:
            return
        if process.state is not State.RUNNING:
            if process.state is State.PAUSED:
                process.parked.append(due)
            return
        if process is not self.current:
            self._enter(process)
        try:
            due.callback(*due.arguments)
        except Exception as error:
            self.violated(f"{process.name}: a callback raised {error!r}")
            raise

    def _enter(self, process: "Process") -> None:
        self.current = process
        _set_running_loop(process._as_loop)

    def end(self) -> None:
        """Everything stops; what was never finished is put away without a word."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.discard()
        _set_running_loop(None)


class State(Enum):
    """Whether a process does what it has to."""

    RUNNING = auto()
    PAUSED = auto()
    DEAD = auto()


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
        self.parked: list[Due] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._as_loop = cast("asyncio.AbstractEventLoop", self)
        world.add(self)

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, and never does anything again."""
        return self.state is State.DEAD

    def kill(self) -> None:
        """End it, as SIGKILL would: nothing that it has begun is finished."""
        self.state = State.DEAD
        self.parked.clear()

    def pause(self) -> None:
        """Stop it, as SIGSTOP would."""
        if self.state is State.RUNNING:
            self.state = State.PAUSED

    def wake(self) -> None:
        """Let it go on with whatever came meanwhile."""
        if self.state is State.PAUSED:
            self.state = State.RUNNING
            parked, self.parked = self.parked, []
            for due in parked:
                self.world.soon(due)

    def discard(self) -> None:
        """Put away the tasks of a process that is dead."""
        for task in self._tasks:
            if not task.done():
                _keep_silent(task)
                coroutine = task.get_coro()
                if isinstance(coroutine, Coroutine):
                    coroutine.close()
        self._tasks.clear()

    # What asyncio asks of a loop.

    def time(self) -> float:
        """Seconds of the world's clock."""
        return self.world.now

    def get_debug(self) -> bool:
        """Never."""
        return False

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
        due = Due(self, self.world.now, callback, arguments)
        if self.state is not State.DEAD:
            self.world.soon(due)
        return due

    def call_at(
        self, when: float, callback: Callable[..., object], *arguments: Any, context: object = None
    ) -> Due:
        """Do this then."""
        due = Due(self, when, callback, arguments)
        if self.state is not State.DEAD:
            self.world.later(due)
        return due

    def call_later(
        self, delay: float, callback: Callable[..., object], *arguments: Any, context: object = None
    ) -> Due:
        """Do this after so many seconds."""
        return self.call_at(self.world.now + delay, callback, *arguments)

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self._as_loop)

    def create_task(
        self,
        coroutine: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: str | None = None,
        context: object = None,
    ) -> asyncio.Task[T]:
        """A task of this loop."""
        task: asyncio.Task[T] = asyncio.Task(coroutine, loop=self._as_loop, name=name)
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
