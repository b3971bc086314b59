"""Somebody with control works by hand: the real `server.dispatch.hand.hand`, at a simulated socket.

Each event has a mark of its own, and each hand's marks grow: so the desktop tells what comes twice,
in another order, or when it must not come any more.
"""

from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from schemas.inputs.hand import (
    Acknowledged,
    Batch,
    ButtonChanged,
    HandEvent,
    Moved,
    WheelTurned,
)
from server.dispatch.hand.hand import Hand, HandClosedError, NotDone
from server.dispatch.hand.input_queue import QueuedInput
from tests.simulation.desktop import Desktop, Plan
from tests.simulation.inputs import steps_of
from tests.simulation.network import latency
from tests.simulation.world import Process, World

FIRST_MARK: Final = 1000
MARKS_OF_A_HAND: Final = 100

MOST_BATCHES: Final = 8
SILENT_SECONDS: Final = 4.5
"""After how long a node takes somebody for gone of whom it hears nothing."""

RELEASED_WITHIN: Final = SILENT_SECONDS + 3.0
"""Seconds after the end of a websocket within which nothing is held, where nothing is wrong."""


@dataclass(eq=False)
class HandWork:
    """One websocket of a hand, at both of its ends.

    ``sent`` are the marks of each batch but those of moves, which may become one with others.
    ``acknowledged`` is the last batch that has its end; after ``is_refused`` that may be without
    its events.
    """

    world: World
    desktop: Desktop
    person: Process
    machine_id: str
    lease: str
    first_mark: int
    random: Random
    sent: list[list[int]] = field(default_factory=list)
    acknowledged: int = 0
    is_refused: bool = False
    is_closed: bool = False
    hand: Hand | None = None
    _marks: int = 0
    _last_begun: int = 0
    _there_at: float = 0.0
    _back_at: float = 0.0

    # What the desktop sees.

    def begins(self, mark: int, times: int) -> None:
        """An event reaches the desktop."""
        world = self.world
        if times > 1:
            world.violated(f"event {mark} of a hand came a second time")
        if mark < self._last_begun:
            world.violated(f"event {mark} of a hand came after {self._last_begun}: another order")
        self._last_begun = mark

    def check(self) -> None:
        """All that was acknowledged has happened; call when nothing comes any more."""
        if self.is_refused:
            return
        for number, marks in enumerate(self.sent[: self.acknowledged], 1):
            for mark in marks:
                if self.desktop.happened(mark).ended != 1:
                    self.world.violated(
                        f"batch {number} of a hand was acknowledged without event {mark}"
                    )

    # The person's end.

    def send(self, process: Process) -> None:
        """Do something."""
        events = self._events()
        self.sent.append([_mark_of(event) for event in events if not isinstance(event, Moved)])
        batch = Batch(sequence=len(self.sent), events=events)
        self._there_at = max(self._there_at, self.world.now + latency(self.world))
        process.call_at(self._there_at, self._arrived, batch)

    def leave(self, process: Process, *, silently: bool) -> None:
        """End the websocket; or vanish, as with a network that is lost."""
        self.is_closed = True
        away = self.world.between(SILENT_SECONDS - 1, SILENT_SECONDS) if silently else 0.0
        self._there_at = max(self._there_at, self.world.now + latency(self.world)) + away
        process.call_at(self._there_at, self.end)

    def _heard(self, message: Acknowledged | NotDone) -> None:
        if isinstance(message, Acknowledged):
            self.acknowledged = message.sequence
        elif isinstance(message, NotDone):
            self.is_refused = True

    def was_closed(self) -> None:
        """The person sees that the websocket is gone."""
        self.is_closed = True

    # The node's end.

    def _arrived(self, batch: Batch) -> None:
        if self.hand is not None:
            try:
                self.hand.take(batch)
            except HandClosedError as error:
                self.close(error)

    def tell(self, message: Acknowledged | NotDone) -> None:
        """Send the person a message."""
        self._back_at = max(self._back_at, self.world.now + latency(self.world))
        self.person.call_at(self._back_at, self._heard, message)

    def close(self, error: HandClosedError) -> None:
        """End the websocket from the node's side."""
        self.world.facts[f"hand closed {error.code.name}"] += 1
        self.end()
        self._back_at = max(self._back_at, self.world.now + latency(self.world))
        self.person.call_at(self._back_at, self.was_closed)

    def end(self) -> None:
        """The node has no websocket any more."""
        hand, self.hand = self.hand, None
        if hand is not None:
            hand.end()

    # Events.

    def _events(self) -> list[HandEvent]:
        kind = self.random.randrange(5)
        button = self.random.choice(("left", "left", "right"))
        press = partial(self._button, button, down=True)
        let_go = partial(self._button, button, down=False)
        if kind == 0:
            return [press(), self._move(), self._move(), let_go()]
        if kind == 1:
            return [press()]
        if kind == 2:
            amount = self.random.randint(1, 2)
            turned = WheelTurned(
                type="wheel", direction="up", amount=amount, x=self._next_mark(), y=0
            )
            self._plan(turned)
            return [turned]
        return [self._move(), press(), let_go()]

    def _next_mark(self) -> int:
        self._marks += 1
        return self.first_mark + self._marks

    def _move(self) -> HandEvent:
        moved = Moved(type="move", x=self._next_mark(), y=0)
        self._plan(moved)
        return moved

    def _button(self, button: str, *, down: bool) -> HandEvent:
        changed = ButtonChanged.model_validate(
            {"type": "button", "button": button, "down": down, "x": self._next_mark(), "y": 0}
        )
        self._plan(changed)
        return changed

    def _plan(self, event: HandEvent) -> None:
        mark = _mark_of(event)
        body = QueuedInput(event, 0).body
        self.desktop.plans[mark] = Plan(steps_of(body), is_keyed=False)
        self.desktop.by_hand[mark] = self


def _mark_of(event: HandEvent) -> int:
    assert isinstance(event, Moved | ButtonChanged | WheelTurned)
    assert event.x is not None
    return event.x
