"""Events of a hand, as gestures take them, in tests."""

from typing import Any
from uuid import UUID, uuid4

from schemas.inputs.bodies import AnyInput, ClickMouse, MoveMouse, PressKeys, ScrollMouse, TypeText
from schemas.inputs.places import PathPoint
from server.dispatch.command import Sender
from server.dispatch.recording.drafts import Draft, Span
from server.dispatch.recording.gestures import Gestures
from server.dispatch.recording.hand_events import Done

SENDER = Sender(UUID(int=1), UUID(int=2), "a hand", "request", in_segment=True)


class ScriptedHand:
    """Does one thing after another, and has what the gestures gave so far."""

    def __init__(self) -> None:
        self.gestures = Gestures()
        self.now = 1_000_000
        self.closed: list[Draft] = []
        self.is_said_secret = False

    def does(self, body: AnyInput, after: int = 20) -> None:
        """Do something, so many milliseconds after what came before."""
        self.now += after
        span = Span(self.now - 2, self.now)
        done = Done(uuid4(), SENDER, body, span, is_said_secret=self.is_said_secret)
        self.closed += self.gestures.took(done)

    def moves(self, *places: tuple[int, int], after: int = 20) -> None:
        """Move past all places but the last, to that."""
        *passed, (x, y) = places
        path = tuple(PathPoint(x=x, y=y) for x, y in passed)
        self.does(MoveMouse(x=x, y=y, path=path or None), after)

    def presses(self, x: int, y: int, button: Any = "left", after: int = 20) -> None:
        """Have a button go down."""
        self.does(ClickMouse(x=x, y=y, button=button, down=True), after)

    def releases(self, x: int, y: int, button: Any = "left", after: int = 20) -> None:
        """Have it go up."""
        self.does(ClickMouse(x=x, y=y, button=button, down=False), after)

    def clicks(self, x: int, y: int, after: int = 20) -> None:
        """Press and release the left button."""
        self.presses(x, y, after=after)
        self.releases(x, y)

    def holds(self, key: str) -> None:
        """Have a key go down."""
        self.does(PressKeys(text=key, down=True))

    def lets_go(self, *keys: str, after: int = 20) -> None:
        """Have it go up, or several at once."""
        self.does(PressKeys(text=" ".join(keys), down=False), after)

    def strikes(self, *keys: str) -> None:
        """Press and release keys, one after another."""
        for key in keys:
            self.holds(key)
            self.lets_go(key)

    def turns(self, direction: Any, amount: int, x: int, y: int, after: int = 20) -> None:
        """Turn the wheel."""
        self.does(ScrollMouse(direction=direction, amount=amount, x=x, y=y), after)

    def composes(self, text: str) -> None:
        """Have an input method make a text."""
        self.does(TypeText(text=text))

    def rests(self, milliseconds: int) -> None:
        """Do nothing for so long."""
        self.now += milliseconds
        self.closed += self.gestures.rested(self.now)

    @property
    def steps(self) -> list[tuple[str, dict[str, Any], str | None]]:
        """All that was done, which is over now."""
        self.closed += self.gestures.close()
        return [(draft.operation, draft.body, draft.text) for draft in self.closed]
