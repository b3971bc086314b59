"""What waits to be sent of a hand's events: each becomes an input, and moves are merged."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from schemas.inputs.bodies import (
    MAX_PATH_POINTS,
    AnyInput,
    ClickMouse,
    MoveMouse,
    PathPoint,
    PressKeys,
    ScrollMouse,
    TypeText,
)
from schemas.inputs.hand import (
    MAX_NOTCHES,
    ButtonChanged,
    ButtonPlace,
    HandEvent,
    KeyChanged,
    Moved,
    TextComposed,
    Undone,
    WheelTurned,
)

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

    event: HandEvent
    sequence: int
    completes: int = 0
    passed: list[PathPoint] = field(default_factory=list)
    is_over: bool = False

    @property
    def is_move(self) -> bool:
        """Whether further moves may be merged into it."""
        return isinstance(self.event, Moved)

    @property
    def body(self) -> AnyInput:
        """The input that it becomes."""
        match self.event:
            case Moved(x=x, y=y):
                return MoveMouse(x=x, y=y, path=tuple(self.passed) or None)
            case ButtonChanged(button=button, down=down, x=at_x, y=at_y):
                return ClickMouse(button=button, down=down, x=at_x, y=at_y)
            case WheelTurned(direction=direction, amount=amount, x=at_x, y=at_y):
                return ScrollMouse(direction=direction, amount=amount, x=at_x, y=at_y)
            case KeyChanged(key=key, down=down):
                return PressKeys(text=key, down=down)
            case TextComposed(text=text):
                return TypeText(text=text)

    def takes(self, event: HandEvent) -> bool:
        """Merge an event that comes next into this one, where the two together are the same."""
        last = self.event
        if isinstance(last, Moved) and isinstance(event, Moved):
            if len(self.passed) >= MAX_PATH_POINTS:
                return False
            if (last.x, last.y) != (event.x, event.y):
                self.passed.append(PathPoint(x=last.x, y=last.y))
        elif isinstance(last, WheelTurned) and isinstance(event, WheelTurned):
            amount = last.amount + event.amount
            if event.model_copy(update={"amount": last.amount}) != last or amount > MAX_NOTCHES:
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

    def add(self, event: HandEvent, sequence: int) -> None:
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


def undone(inputs: Iterable[QueuedInput]) -> Undone:
    """What a person wants to know of what was not done: releases are no loss."""
    lost = Undone()
    for queued in inputs:
        match queued.event:
            case Moved():
                lost.moves += 1 + len(queued.passed)
            case ButtonChanged(button=button, down=True, x=x, y=y):
                lost.presses.append(ButtonPlace(button=button, x=x, y=y))
            case WheelTurned(amount=amount):
                lost.notches += amount
            case KeyChanged(down=True):
                lost.keys += 1
            case TextComposed(text=text):
                lost.characters += len(text)
    return lost
