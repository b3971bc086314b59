"""What arrives at a desk, in words: presses, releases and motion, each with its place and time."""

from enum import Enum
from typing import NamedTuple


class Place(NamedTuple):
    """A pixel of a desk."""

    x: int
    y: int


class Kind(Enum):
    """What a device did."""

    MOTION = "motion"
    PRESS = "press"
    RELEASE = "release"


POINTER = "pointer"
"""What is in motion."""

BUTTONS = {
    1: "left",
    2: "middle",
    3: "right",
    4: "wheel up",
    5: "wheel down",
    6: "wheel left",
    7: "wheel right",
}
"""X's buttons by their numbers."""

MODIFIERS = ("ctrl", "alt", "shift", "super")
TYPED_KEYS = "abcdefghijklmnopqrstuvwxyz0123456789"
HAND_KEYS = "-=,./;[]"
"""Keys that only somebody with a hand uses."""
HELD_KEYS = tuple(f"f{number}" for number in range(1, 13))

_MODIFIER_KEYSYMS = {"ctrl": 0xFFE3, "alt": 0xFFE9, "shift": 0xFFE1, "super": 0xFFEB}
_F1 = 0xFFBE
_SHOWN = 40
"""Bytes of a text."""

KEYSYMS: dict[str, int] = {
    **_MODIFIER_KEYSYMS,
    **{key: ord(key) for key in TYPED_KEYS + HAND_KEYS},
    **{key: _F1 + number for number, key in enumerate(HELD_KEYS)},
}
"""X's names of the keys that the commands and the hands of a run use."""


class Arrival(NamedTuple):
    """An event of a desk's devices; ``what`` is the pointer, a button or a key.

    ``place`` is where the pointer was, ``at`` the time by the run's clock.  ``by_person`` is one
    that somebody at the desk made.
    """

    kind: Kind
    what: str
    place: Place
    at: float
    by_person: bool = False

    def __str__(self) -> str:
        who = " by a person" if self.by_person else ""
        return f"{self.at:9.3f} {self.kind.value} {self.what} at {tuple(self.place)}{who}"


FIELD = "field"
"""What stands in the place of a selection where a text was put into a program's field."""


class Copy(NamedTuple):
    """A selection of a desk that got an owner, and the text that this gave.

    None is a text that nobody knows: another came at once, or its owner was gone.  Or it is what a
    program says was put into its field.
    """

    selection: str
    text: bytes | None
    at: float

    def __str__(self) -> str:
        text = "an unknown text" if self.text is None else f"{self.text[:_SHOWN]!r}"
        return f"{self.at:9.3f} {self.selection} given {text}"


class Step(NamedTuple):
    """An event that an input must make; None is wherever the pointer is."""

    kind: Kind
    what: str
    place: Place | None = None

    def is_made_by(self, arrival: Arrival) -> bool:
        return (
            self.kind is arrival.kind
            and self.what == arrival.what
            and (self.place is None or self.place == arrival.place)
        )
