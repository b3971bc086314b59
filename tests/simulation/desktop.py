"""The desktop that everything is about: it counts by content what really happened on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from machine_client.injector import InjectionFailed, Refusal
from schemas.inputs import AnyInput, DragMouse, MoveMouse
from schemas.outcomes import Point, Refused
from schemas.wire import Display
from tests.simulation.world import World

LATEST_SECONDS = 1.0
"""By how much an injection may be late: a message's delay, and the steps from the last look."""


@dataclass
class Plan:
    """What the desktop does with an input; ``is_keyed`` is whether it must not happen twice."""

    is_keyed: bool = True
    events: int = 1
    gap: float = 0.01
    refused: bool = False
    fails_after: int | None = None


@dataclass
class Happened:
    """What was seen of an input, which its content tells from all others."""

    begun: int = 0
    events: int = 0
    ended: int = 0


class Holder(Protocol):
    """The client whose hand it is."""

    begin_by: float

    def clock(self) -> float:
        """Seconds."""

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""


@dataclass
class Desktop:
    """All inputs, planned and seen, by their marks."""

    world: World
    plans: dict[int, Plan] = field(default_factory=dict)
    seen: dict[int, Happened] = field(default_factory=dict)
    must_be_early: bool = True

    def happened(self, mark: int) -> Happened:
        """What was seen of an input."""
        return self.seen.setdefault(mark, Happened())


def mark_of(body: AnyInput) -> int:
    """What tells an input from all others."""
    if isinstance(body, DragMouse):
        return body.start_x
    if isinstance(body, MoveMouse):
        return body.x
    raise TypeError(f"the simulation sends no {type(body).__name__}")


class Hand:
    """An injector (`machine_client.worker.Injector`) that may be killed between any two events."""

    def __init__(self, desktop: Desktop, holder: Holder) -> None:
        self.injected = 0
        self._desktop = desktop
        self._holder = holder

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Check an input; what comes back injects it."""
        mark = mark_of(body)
        plan = self._desktop.plans[mark]
        self.injected = 0
        if plan.refused:
            raise Refusal(Refused(code="coordinates_outside_display", message="outside"))
        return lambda: self._inject(mark, plan)

    def _inject(self, mark: int, plan: Plan) -> Point:
        world, happened = self._desktop.world, self._desktop.happened(mark)
        late = self._holder.clock() - self._holder.begin_by
        if late > LATEST_SECONDS and self._desktop.must_be_early:
            world.violated(f"input {mark} begins {late:.3f} s after its time")
        happened.begun += 1
        world.tell("inject", mark)
        if happened.begun > 1 and plan.is_keyed:
            world.violated(f"input {mark} is injected a second time")
        for event in range(plan.events):
            if event == plan.fails_after:
                raise InjectionFailed("display_lost", "the display is gone", event)
            happened.events += 1
            self.injected += 1
            self._holder.pass_time(world.between(0, 2 * plan.gap))
        happened.ended += 1
        world.tell("injected", mark)
        return Point(x=mark, y=0)

    def interrupt(self) -> None:
        """Nothing interrupts."""

    def release_all(self) -> None:
        """Nothing is held."""

    def take_released(self) -> None:
        """Nothing was released."""

    def displays(self) -> list[Display]:
        """None that anybody asks for."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""
