"""What waits to be sent of a hand's events: each becomes an input, and moves are merged."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from schemas.inputs import bodies, hand
from schemas.inputs.places import PathPoint

MOST_WAITING: Final = 256
"""Inputs, after merging: more than a person does while a machine keeps one waiting."""


class TooManyWaitError(Exception):
    """Events come faster than the machine takes them, for so long that no more may wait."""


@dataclass(slots=True)
class QueuedInput:
    """An event, with the places that the pointer passed before it, if it is a move.

    ``sequence`` is the batch that it came with; ``completes`` is the last batch that has its end
    with this input, 0 for none.
    """

    event: hand.HandEvent
    sequence: int
    completes: int = 0
    passed: list[PathPoint] = field(default_factory=list)
    is_over: bool = False

    @property
    def is_move(self) -> bool:
        """Whether further moves may be merged into it."""
        return isinstance(self.event, hand.Moved)

    @property
    def body(self) -> bodies.AnyInput:
        """The input that it becomes."""
        match self.event:
            case hand.Moved(x=x, y=y):
                return bodies.MoveMouse(x=x, y=y, path=tuple(self.passed) or None)
            case hand.ButtonChanged(button=button, down=down, x=at_x, y=at_y):
                return bodies.ClickMouse(button=button, down=down, x=at_x, y=at_y)
            case hand.WheelTurned(direction=direction, amount=amount, x=at_x, y=at_y):
                return bodies.ScrollMouse(direction=direction, amount=amount, x=at_x, y=at_y)
            case hand.KeyChanged(key=key, down=down):
                return bodies.PressKeys(text=key, down=down)
            case hand.TextComposed(text=text):
                return bodies.TypeText(text=text)

    def takes(self, event: hand.HandEvent) -> bool:
        """Merge an event that comes next into this one, where the two together are the same."""
        last = self.event
        if isinstance(last, hand.Moved) and isinstance(event, hand.Moved):
            if len(self.passed) >= bodies.MAX_PATH_POINTS:
                return False
            if (last.x, last.y) != (event.x, event.y):
                self.passed.append(PathPoint(x=last.x, y=last.y))
        elif isinstance(last, hand.WheelTurned) and isinstance(event, hand.WheelTurned):
            amount = last.amount + event.amount
            if (
                event.model_copy(update={"amount": last.amount}) != last
                or amount > hand.MAX_NOTCHES
            ):
                return False
            event = event.model_copy(update={"amount": amount})
        else:
            return False
        self.event = event
        return True


class InputQueue:
    """The inputs that wait, in the order of their events."""

    def __init__(self) -> None:
        self._waiting: deque[QueuedInput] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    @property
    def first(self) -> QueuedInput:
        """The one that is sent next."""
        return self._waiting[0]

    @property
    def may_grow(self) -> bool:
        """Whether the first is a move with nothing behind it, which may take more."""
        return len(self._waiting) == 1 and self._waiting[0].is_move

    def add(self, event: hand.HandEvent, sequence: int) -> None:
        """Put an event behind the others.  Raises TooManyWaitError."""
        if self._waiting and self._waiting[-1].takes(event):
            return
        if len(self._waiting) >= MOST_WAITING:
            raise TooManyWaitError
        self._waiting.append(QueuedInput(event, sequence))

    def complete(self, sequence: int) -> bool:
        """All events of a batch are here; False where none of what waits has to end for it."""
        if not self._waiting:
            return False
        self._waiting[-1].completes = sequence
        return True

    def next(self) -> QueuedInput:
        """Take the first."""
        return self._waiting.popleft()

    def drop(self) -> list[QueuedInput]:
        """Take all of them: they are not sent."""
        dropped = list(self._waiting)
        self._waiting.clear()
        return dropped


def undone(inputs: Iterable[QueuedInput]) -> hand.Undone:
    """What a person wants to know of what was not done: releases are no loss."""
    lost = hand.Undone()
    for queued in inputs:
        match queued.event:
            case hand.Moved():
                lost.moves += 1 + len(queued.passed)
            case hand.ButtonChanged(button=button, down=True, x=x, y=y):
                lost.presses.append(hand.ButtonPlace(button=button, x=x, y=y))
            case hand.WheelTurned(amount=amount):
                lost.notches += amount
            case hand.KeyChanged(down=True):
                lost.keys += 1
            case hand.TextComposed(text=text):
                lost.characters += len(text)
    return lost
