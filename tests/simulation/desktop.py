"""The desktop that everything is about: it notes by content what really happened on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from machine_client.work.elements import Found, ask_element, find_all, put_on_elements
from machine_client.work.injector import InjectionFailed, Refusal
from schemas.inputs.bodies import AnyInput, ElementInput, MouseInput
from schemas.inputs.outcomes import Effect, Point, Refused
from schemas.link.messages import Display
from tests.simulation.inputs import LET_GO, Step, is_marked, let_go_by, mark_of
from tests.simulation.screen import Kind, XServer
from tests.simulation.sights import Shown, ShownElements, Text
from tests.simulation.world import World

LATEST_SECONDS = 1.0
"""By how much an injection may be late: a message's delay, and the steps from the last look."""


@dataclass
class Plan:
    """What the desktop does with an input; ``is_keyed`` is whether it must not happen twice.

    ``after`` is by how many seconds it may begin later than its command, as one of several actions.
    """

    steps: list[Step]
    is_keyed: bool = True
    gap: float = 0.01
    refused: bool = False
    fails_after: int | None = None
    after: float = 0.0
    is_of_several: bool = False
    element: Shown | None = None
    """How the element is shown that it names, if it does."""


@dataclass
class Happened:
    """What was seen of an input, which its content tells from all others.

    ``steps`` are its own events; ``events`` counts those as well by which it released what an
    earlier one held.  ``is_disturbed`` is one that a person came between.
    """

    begun: int = 0
    events: int = 0
    ended: int = 0
    steps: list[Step] = field(default_factory=list)
    is_disturbed: bool = False


class Holder(Protocol):
    """The client whose hand it is."""

    begin_by: float
    is_cut_off: bool
    machine_id: str

    def clock(self) -> float:
        """Seconds."""

    def step(self) -> None:
        """Something that a kill may come before."""

    def pass_time(self, seconds: float, is_over: Callable[[], bool] = bool) -> None:
        """Let time pass; less where it is over before."""


class Work(Protocol):
    """What somebody does by hand; see `tests.simulation.hands`."""

    lease: str

    def begins(self, mark: int, times: int) -> None:
        """An event reaches the desktop, for the so manieth time."""


@dataclass
class Desktop:
    """All inputs, planned and seen, by their marks."""

    world: World
    plans: dict[int, Plan] = field(
        default_factory=lambda: {LET_GO: Plan([], is_keyed=False)},
    )
    by_hand: dict[int, Work] = field(default_factory=dict)
    """Whose hand does what, by the marks of events."""
    seen: dict[int, Happened] = field(default_factory=dict)
    texts: dict[str, Text] = field(default_factory=dict)
    """What is waited for, by the text itself."""
    must_be_early: bool = True

    def happened(self, mark: int) -> Happened:
        """What was seen of an input."""
        return self.seen.setdefault(mark, Happened())


class Hand:
    """An `Injector` of machine_client.work.worker that may be killed between any two events.

    What it presses it writes into the X server's record first; what its predecessors left there
    it releases when it begins.
    """

    effect: Effect = "happened"
    is_lost = False

    def __init__(self, desktop: Desktop, x_server: XServer, holder: Holder) -> None:
        self.injected = 0
        self.held: list[str] = []
        self.pressed_by: dict[str, int] = {}
        """The mark of what pressed something last."""
        self._desktop = desktop
        self._x_server = x_server
        self._holder = holder
        self._is_interrupted = False
        self._mark = LET_GO
        self._elements = ShownElements(lambda mark: desktop.plans[mark].element)
        self.release_left_behind()

    def release_left_behind(self) -> None:
        """Release what a client that died has left pressed."""
        for what in self._x_server.left_behind():
            self._desktop.world.facts["released after a kill"] += 1
            self._x_server.do(Kind.RELEASE, what)
        self._x_server.record.clear()

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        """Check an input; what comes back injects it."""
        if not is_marked(body):
            return self.pointer  # An action, whose element is looked for when it is its turn.
        mark = mark_of(body)
        plan = self._desktop.plans[mark]
        self.injected = 0
        if plan.refused:
            raise Refusal(Refused(code="coordinates_outside_display", message="outside"))
        found = find_all(body, self._elements)
        return lambda: self._inject(body, mark, plan, found)

    def _inject(self, body: AnyInput, mark: int, plan: Plan, found: Found) -> Point:
        world, happened = self._desktop.world, self._desktop.happened(mark)
        late = self._holder.clock() - self._holder.begin_by - plan.after
        if late > LATEST_SECONDS and self._desktop.must_be_early:
            world.violated(f"input {mark} begins {late:.3f} s after its time")
        self._go_on()
        if isinstance(body, ElementInput):
            ask_element(body, found, self._elements, self._go_on)
        elif isinstance(body, MouseInput):
            body = put_on_elements(body, found, self._elements)
            self._go_on()
        lets_go = let_go_by(body)
        pressed = {what for kind, what in plan.steps if kind is Kind.PRESS}
        self._check(pressed if lets_go is None else {lets_go})
        persons_came = self._x_server.persons_came
        self._begin(mark, plan, happened)
        for what in pressed.intersection(self.held):
            self._do((Kind.RELEASE, what), happened)
        for number, step in enumerate(plan.steps):
            if number == plan.fails_after:
                self._fail("display_lost", plan.steps[:number], happened)
            if self._is_interrupted:
                self._fail("interrupted", plan.steps[:number], happened)
            if self._do(step, happened):
                happened.steps.append(step)
            if plan.gap:
                self._holder.pass_time(world.between(0, 2 * plan.gap))
            else:
                self._holder.step()
        if lets_go in self.held:
            self._do((Kind.RELEASE, lets_go), happened)
        happened.ended += 1
        happened.is_disturbed = self._x_server.persons_came != persons_came
        world.trace("injected", mark)
        return Point(x=mark, y=0)

    def _begin(self, mark: int, plan: Plan, happened: Happened) -> None:
        """Note that an input begins, which it may not do in every case."""
        world = self._desktop.world
        happened.begun += 1
        self._mark = mark
        if world.run_of_life is not None:
            world.run_of_life.begins(mark)
        if mark in self._desktop.by_hand:
            self._desktop.by_hand[mark].begins(mark, happened.begun)
        world.trace("inject", mark)
        if plan.element not in (None, "is there"):
            world.violated(f"input {mark} is pressed, and its element {plan.element}")
        if happened.begun > 1 and plan.is_keyed:
            world.violated(f"input {mark} is injected a second time")
        if plan.is_of_several and self._holder.is_cut_off:
            world.violated(f"action {mark} begins after its link was lost")

    def _go_on(self) -> None:
        if self._is_interrupted:
            raise InjectionFailed("interrupted", "somebody took control", 0)

    def _check(self, wanted: set[str]) -> None:
        if wanted.intersection(self._x_server.down).difference(self.held):
            raise InjectionFailed("already_down", "somebody else holds it", 0)

    def _fail(self, code: str, done: list[Step], happened: Happened) -> None:
        for _, what in done:
            if what in self.held:
                self._do((Kind.RELEASE, what), happened)
        raise InjectionFailed(code, "it went no further", self.injected)

    def _do(self, step: Step, happened: Happened) -> bool:
        """Make an event, if it is one; whether it is."""
        kind, what = step
        if not self._may_come():
            self._desktop.world.violated(f"{step} came while a person had control")
        if kind is Kind.PRESS:
            self._x_server.record.append(what)
            self.held.append(what)
            self.pressed_by[what] = self._mark
        is_event = self._x_server.do(kind, what)
        if kind is Kind.RELEASE:
            self.held.remove(what)
            self._x_server.record.remove(what)
        if is_event:
            happened.events += 1
            self.injected += 1
        return is_event

    def _may_come(self) -> bool:
        """Whether nobody has control, or whoever does this."""
        lease = self._desktop.world.controlled.get(self._holder.machine_id)
        if lease is None or self._mark == LET_GO:
            return True
        work = self._desktop.by_hand.get(self._mark)
        return work is not None and work.lease == lease

    @property
    def is_interrupted(self) -> bool:
        """Whether nothing may begin until everything is released."""
        return self._is_interrupted

    def pause(self, seconds: float) -> None:
        """Let time pass, up to an interrupt."""
        if not self._is_interrupted:
            self._holder.pass_time(seconds, lambda: self._is_interrupted)

    def pointer(self) -> Point:
        """Where the pointer is."""
        return Point(x=0, y=0)

    def interrupt(self) -> None:
        """End what runs before its next step."""
        self._is_interrupted = True

    def release(self, body: AnyInput) -> None:
        """Release what an input holds."""
        for what in [each for each in self.held if self.pressed_by[each] == mark_of(body)]:
            self._do((Kind.RELEASE, what), self._desktop.happened(mark_of(body)))

    def release_all(self) -> None:
        """Release what is held."""
        for what in reversed(self.held):
            self._x_server.do(Kind.RELEASE, what)
            self._x_server.record.remove(what)
        self.held.clear()
        self._is_interrupted = False

    def take_released(self) -> None:
        """Nothing was released."""

    def displays(self) -> list[Display]:
        """None that anybody asks for."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""
