"""One machine as a tool sees it: under the key of this call, in pixels of the screenshot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from farhand import AsyncMachine
from farhand._async.help import AsyncHelp
from farhand._async.recordings import AsyncRecordings
from farhand._async.runs import AsyncRuns
from farhand.actions import Action
from farhand.types import InputResult
from schemas.values.pictures import Size, fitting

LONGEST: Final = 1280
"""Pixels of a screenshot's longer side, at most.

Models make larger pictures smaller before they look at them, some from 1,568 on, and then name
places in pixels that nobody knows.
"""


@dataclass(frozen=True)
class Picture:
    """A picture for a model; ``content`` is base64."""

    content: str
    format: str


@dataclass(frozen=True)
class Said:
    """What a tool says: facts, and pictures."""

    facts: dict[str, Any]
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class View:
    """Which part of the plane of all displays a screenshot shows."""

    x: int
    y: int
    width: int
    height: int

    @property
    def size(self) -> Size:
        """The picture's own."""
        return fitting(Size(self.width, self.height), LONGEST, LONGEST)

    def on_desktop(self, x: int, y: int) -> tuple[int, int]:
        """The desktop's pixel in which one of the picture begins."""
        return (
            self.x + x * self.width // self.size.width,
            self.y + y * self.height // self.size.height,
        )

    def in_picture(self, x: int, y: int) -> tuple[int, int]:
        """The picture's pixel in which one of the desktop begins."""
        return (
            (x - self.x) * self.size.width // self.width,
            (y - self.y) * self.size.height // self.height,
        )


@dataclass(frozen=True)
class Desk:
    """A machine, the recordings, people and runs; ``key`` is for its input, None for a new one."""

    machine: AsyncMachine
    key: str | None
    recordings: AsyncRecordings
    help: AsyncHelp
    runs: AsyncRuns

    async def do(self, action: Action) -> Said:
        """Carry out an input whose places are pixels of the screenshot.  Raises a FarhandError."""
        return done(await self.machine.do(in_screenshot(action), key=self.key))

    async def view(self) -> View:
        """What a screenshot shows now.  Raises a FarhandError."""
        seen = await self.machine.dimensions()
        return View(seen.x, seen.y, seen.width, seen.height)


def in_screenshot(action: Action) -> Action:
    """The action with the word that its places are pixels of the screenshot, if it has places."""
    has_places = not {"x", "y", "to_x", "to_y"}.isdisjoint(action)
    return {**action, "in": {"fit": LONGEST}} if has_places else action


def done(result: InputResult) -> Said:
    """What became of an input."""
    facts: dict[str, Any] = {"status": result.status, "idempotency_key": result.key}
    if result.effect is not None:
        facts["effect"] = result.effect
    if result.replayed:
        facts["replayed"] = True
    return Said(facts)
