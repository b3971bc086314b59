"""What the contract needs of each kind of desktop: the desktop under test, and its far side.

Whoever adds a kind writes a `Rig` for it and binds the contract's classes, as
`tests/machine_client/desktop/x11/test_contract.py` does.  A witness uses nothing of the code under
test, so that it can contradict it.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from machine_client.desktop.base import Desktop, RawFrame
from schemas.values.pictures import Region

Colour = tuple[int, int, int]
"""Red, green, blue."""


@dataclass(frozen=True)
class Seen:
    """Something that reached the far side.

    ``names`` are all names of the button or key that went down or up, or the direction of a wheel
    that was turned by a notch: a key has those of every character that is on it, and the name that
    `schemas.inputs.key_combinations` has for it.  ``at`` is seconds of the far side's clock.
    """

    action: Literal["move", "down", "up", "wheel"]
    names: frozenset[str]
    x: int
    y: int
    at: float

    def __repr__(self) -> str:
        return f"{self.action} {'/'.join(sorted(self.names))} at ({self.x}, {self.y})"


def strokes(events: list[Seen]) -> list[str]:
    """What went down, up or round, each as ``down left``; a key by its letter without Shift."""
    return [f"{each.action} {max(each.names)}" for each in events if each.action != "move"]


class TextField(Protocol):
    """A real program that has the keyboard, and what was typed into it."""

    def typed_before(self, end: str) -> str:
        """What was typed since this was last asked, once ``end`` has come; a new line is a \\n."""


class Witness(Protocol):
    """Sees what really happens on a desktop."""

    def take(self) -> list[Seen]:
        """What happened since this was last asked, all that was done before the call included."""

    def seen(self) -> list[Seen]:
        """What has happened so far, without waiting, and without taking it."""

    def held(self) -> frozenset[str]:
        """One name of each button and key that is down, whoever holds it."""

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is."""

    def painted(self, region: Region, colour: Colour) -> AbstractContextManager[None]:
        """A rectangle of one colour, above everything else, in the coordinates of inputs."""

    def text_field(self) -> AbstractContextManager[TextField]:
        """A program to type into."""


@dataclass
class Rig:
    """A desktop under test with its witness.

    ``others`` are ways in which somebody else can hold a button or key by its name, or the wheel as
    ``wheel down``; None is that this one cannot hold that.  There are no others where the desktop
    cannot know of them, which its documentation then says.
    ``leave_held`` carries inputs out in a machine client of its own and kills it with SIGKILL; what
    stays pressed then is always released by the next one, and told where ``tells_left_pressed``.
    ``lacks`` has names of keys, and characters of copied texts, that it refuses; ``copied`` is what
    becomes of a text that is copied: both only where the desktop has no say in it, which its
    documentation says.  ``buttons`` are those that its mouse has.
    """

    desktop: Desktop
    witness: Witness
    others: Mapping[str, Callable[[str], AbstractContextManager[None] | None]]
    leave_held: Callable[..., None]
    tells_left_pressed: bool = True
    lacks: frozenset[str] = frozenset()
    copied: Callable[[str], str] = str
    buttons: tuple[str, ...] = ("left", "middle", "right", "back", "forward")


class MortalRig(Protocol):
    """A desktop that a test ends, and starts again at the same place."""

    desktop: Desktop

    def start(self) -> None: ...

    def kill(self) -> None: ...


def saw(events: list[Seen], *expected: str) -> None:
    """Check that exactly these events came, each as ``move``, ``down left``, ``wheel up``."""
    told = [
        (event.action, name if (name := wanted.partition(" ")[2]) in event.names else "?")
        for event, wanted in zip(events, expected, strict=False)
    ]
    assert len(events) == len(expected), events
    assert [f"{action} {name}".strip("? ") for action, name in told] == list(expected), events


def pixel(frame: RawFrame, x: int, y: int) -> Colour:
    """The colour of the place of an input, in a picture of the desktop."""
    region, size = frame.region, frame.size
    column = (x - region.x) * size.width // region.width
    row = (y - region.y) * size.height // region.height
    blue, green, red = frame.pixels[(row * size.width + column) * 4 :][:3]
    return red, green, blue
