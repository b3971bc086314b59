"""What is done in a session, drawn from a seed: actions, as a request of several says them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.recorded_sessions.places import Spot

ACTIONS: Final = 20
PAUSES: Final = (0.0, 0.02, 0.1, 0.3, 0.7)
"""Seconds before an action."""

SLOW: Final = 1.0
"""Seconds before an action that depends on how far a program has come with the one before."""

OPENS: Final = "combo"
"""A part of a window that opens something, which takes the pointer and the keyboard then."""

TEXTS: Final = (
    *("4711", "Order 12", "a", "ab cd", "Total: 12.50 (net)", "x/y_z-1", "UPPER lower"),
    *("Grüße", "naïve café", "żółw", "Ω ≈ ж", "日本", "10 €", 'it\'s "so"', "tab\tin it"),
)
KEYS: Final = (
    *("enter", "tab", "backspace", "delete", "left", "right", "up", "down", "home", "end"),
    *("page_down", "page_up", "space", "escape", "shift+tab", "shift+left", "shift+right"),
    *("shift+down", "shift+end", "ctrl+left", "ctrl+shift+right", "ctrl+home", "ctrl+end"),
    *("ctrl+a", "ctrl+c", "ctrl+x", "ctrl+v", "backspace backspace", "right right right"),
)

Action = Mapping[str, Any]


@dataclass(frozen=True)
class Doing:
    """An action, and the seconds before it."""

    pause: float
    action: Action


def plan(seed: str, kind: str, spots: Mapping[str, Spot], count: int = ACTIONS) -> Sequence[Doing]:
    """So many actions on these parts of a program's window; the first gives it the keyboard."""
    drawn = _Plan(random.Random(seed), kind, spots)
    return [drawn.doing(number) for number in range(count)]


class _Plan:
    """Draws one action after another."""

    def __init__(self, numbers: random.Random, kind: str, spots: Mapping[str, Spot]) -> None:
        self.numbers = numbers
        self.kind = kind
        self.spots = spots
        self._last: Action = {}
        self._opens = self._is_open = self._closes = False
        self._since_press = SLOW

    def doing(self, number: int) -> Doing:
        """The next one."""
        pause, waits = self.numbers.choice(PAUSES), self._is_open or self._closes
        draws = (self.click, self.clicks, self.drag, self.turn, self.text, self.keys, self.rest)
        (draw,) = self.numbers.choices(draws, (5, 2, 2, 2, 5, 6, 1)) if number else (self.click,)
        was_open, self._opens = self._is_open, False
        if was_open and draw in (self.clicks, self.drag, self.text):
            # Its first press closes what is open, or its first key, and who has the next is decided
            # by milliseconds.
            draw = self.click
        self._closes = was_open and draw == self.click
        last, self._last = self._last, draw()
        self._is_open = self._opens or (was_open and not self._closes)
        if waits or _asks(last):
            pause = SLOW
        if _presses(self._last):
            pause, self._since_press = max(pause, SLOW - self._since_press), 0.0
        else:
            self._since_press += pause
        return Doing(pause, self._last)

    def click(self) -> Action:
        """A click, mostly with the left button."""
        name, spot = self.numbers.choice([*self.spots.items()])
        body = {"operation": "mouse.click", **self._within(spot)}
        button = self.numbers.choices(("left", "middle", "right"), (8, 1, 1))[0]
        self._opens = name == OPENS or (button == "right" and self.kind != "terminal")
        if button != "left":
            body["button"] = button
        elif self.kind != "terminal" and self.numbers.random() < 0.2:
            body["modifiers"] = [self.numbers.choice(("shift", "ctrl"))]
        return body

    def clicks(self) -> Action:
        """A double or a triple click, but where the first one opens something in its way."""
        spot = self._that_opens_nothing()
        clicks = self.numbers.choice((2, 2, 3))
        return {"operation": "mouse.click", **self._within(spot), "clicks": clicks}

    def drag(self) -> Action:
        """A drag within one part of the window, straight or with a bend.

        None begins where something opens: whether it chooses there is decided by how long it takes.
        """
        spot = self._that_opens_nothing()
        start, way, to = (self._within(spot) for _ in range(3))
        said = {"operation": "mouse.drag", "start_x": start["x"], "start_y": start["y"]}
        said |= {"to_x": to["x"], "to_y": to["y"], "duration": self.numbers.choice((0.1, 0.3, 0.6))}
        return said | ({"path": [way]} if self.numbers.random() < 0.5 else {})

    def turn(self) -> Action:
        """Some notches of the wheel."""
        direction = self.numbers.choice(("down", "down", "up"))
        amount = self.numbers.randint(1, 4)
        said = {"operation": "mouse.scroll", **self._place()}
        return said | {"direction": direction, "amount": amount}

    def text(self) -> Action:
        """A text, sometimes in other scripts than the keyboard's."""
        return {"operation": "keyboard.type", "text": self.numbers.choice(TEXTS)}

    def keys(self) -> Action:
        """Keys that type nothing, alone and together."""
        return {"operation": "keyboard.key", "text": self.numbers.choice(KEYS)}

    def rest(self) -> Action:
        """The pointer comes somewhere, and rests."""
        return {"operation": "mouse.move", **self._place()}

    def _that_opens_nothing(self) -> Spot:
        return self.numbers.choice([each for name, each in self.spots.items() if name != OPENS])

    def _place(self) -> dict[str, int]:
        return self._within(self.numbers.choice([*self.spots.values()]))

    def _within(self, spot: Spot) -> dict[str, int]:
        return {
            "x": spot.x + self.numbers.randrange(max(spot.width, 1)),
            "y": spot.y + self.numbers.randrange(max(spot.height, 1)),
        }


def _presses(action: Action) -> bool:
    """Whether a button is pressed: some programs take two that are near in time for one gesture."""
    return action.get("operation") in ("mouse.click", "mouse.drag")


def _asks(action: Action) -> bool:
    """Whether a program asks itself for what is pasted or dragged, or shows a menu: that lasts."""
    return "button" in action or action.get("operation") == "mouse.drag"
