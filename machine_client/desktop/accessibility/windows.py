"""Which window of the desktop an element is in, and where in it: without I/O.

Programs tell of places in a measure of their own: pixels of theirs, where they are scaled, or from
their window's corner.  What they say is held against where the desktop has their windows, and an
element of which that cannot be told is nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from machine_client.desktop.accessibility.nodes import Node
from schemas.values.pictures import Region

_TOLERANCE: Final = 10
"""Pixels by which what a program says of its window may differ from what the desktop says."""

_LARGEST_FRAME: Final = 80
"""Pixels of a window's frame and shadows, in one direction."""

_SCALES: Final = (1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 4.0)

MENU_ITEMS: Final = frozenset(
    {"menu item", "check menu item", "radio menu item", "tearoff menu item", "menu", "separator"}
)


@dataclass(frozen=True, slots=True)
class DesktopWindow:
    """A window as the desktop has it; ``outer`` is with its frame.

    One that ``is_popup`` is a menu or the like, which no window manager has a hand in.  Programs of
    one that ``is_blind`` know places from its corner alone, in the desktop's measure.
    """

    id: int
    pid: int
    title: str
    bounds: Region
    outer: Region
    is_popup: bool
    is_blind: bool = False


class Windows(Protocol):
    """What a desktop tells of its windows; raises DesktopError where it does not."""

    def seen(self) -> list[DesktopWindow]:
        """All that can be seen, the topmost first."""

    def at(self, x: int, y: int) -> DesktopWindow | None:
        """The window that a click at a place goes to; None where that is nobody's."""

    def demand_all_told(self) -> None:
        """Raise DesktopError where something may lie over windows that is none of them."""

    def untold_menus(self, process: int) -> dict[int, int]:
        """Processes whose menus may lie over windows of this one, and are none that are told.

        For each there is how many windows it has, whether they can be seen or not.
        """

    def close(self) -> None:
        """Let go of the desktop, until the next look."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a program's window is on the desktop, and how its places become the desktop's.

    ``relative`` is that these are told from the window's corner.
    """

    window: DesktopWindow
    relative: bool
    scale: float = 1.0
    from_x: int = 0
    from_y: int = 0
    to_x: int = 0
    to_y: int = 0

    def on_desktop(self, bounds: Region) -> Region:
        """Bounds in the desktop's pixels."""
        left = self.to_x + round((bounds.x - self.from_x) * self.scale)
        top = self.to_y + round((bounds.y - self.from_y) * self.scale)
        width, height = round(bounds.width * self.scale), round(bounds.height * self.scale)
        return Region(left, top, max(1, width), max(1, height))


def placement_of(node: Node, pid: int, windows: Sequence[DesktopWindow]) -> Placement | None:
    """Where a program's window is, whose bounds are known; None where that is not sure."""
    if node.bounds is None:
        return None
    own = [window for window in windows if window.pid == pid and not window.is_popup]
    titled = [window for window in own if node.name and window.title == node.name]
    placed = [found for each in titled or own if (found := _placed(node.bounds, each)) is not None]
    exact = [found for found in placed if not found.relative]
    candidates = exact or placed
    return candidates[0] if len(candidates) == 1 else None


def _placed(told: Region, window: DesktopWindow) -> Placement | None:
    """How a window is told, if this can be it."""
    if window.is_blind:
        corner = window.bounds
        # One of another size has a frame or shadows of its own around it, or draws anew just now.
        is_it = told == Region(0, 0, corner.width, corner.height)
        return Placement(window, relative=True, to_x=corner.x, to_y=corner.y) if is_it else None
    for scale in _SCALES:
        scaled = Region(*(round(each * scale) for each in told))
        if any(_is_like(scaled, each, _TOLERANCE) for each in (window.bounds, window.outer)):
            return Placement(window, relative=False, scale=scale)
    for scale in _SCALES:
        width, height = told.width * scale, told.height * scale
        if (
            -_TOLERANCE <= width - window.bounds.width <= _LARGEST_FRAME
            and -_TOLERANCE <= height - window.bounds.height <= _LARGEST_FRAME
        ):
            left, top = window.bounds.x, window.bounds.y
            if (told.x, told.y) == (0, 0):
                return Placement(window, relative=True, scale=scale, to_x=left, to_y=top)
            return None
    return None


def _is_like(one: Region, other: Region, tolerance: int) -> bool:
    return all(abs(mine - its) <= tolerance for mine, its in zip(one, other, strict=True))


def is_of(window: DesktopWindow, node: Node, bounds: Region, placement: Placement) -> bool:
    """Whether what a click at an element goes to is the element's own window, or its open menu."""
    if window.id == placement.window.id:
        return True
    if window.pid != placement.window.pid or not window.is_popup:
        return False
    around = (each.bounds for each in (node, *node.ancestors) if each.bounds is not None)
    if any(_is_like(placement.on_desktop(each), window.bounds, _TOLERANCE) for each in around):
        return True
    return node.role in MENU_ITEMS and common(bounds, window.bounds) == bounds


def holds(bounds: Region, x: int, y: int) -> bool:
    """Whether a place is within bounds."""
    return bounds.x <= x < bounds.x + bounds.width and bounds.y <= y < bounds.y + bounds.height


def common(one: Region, other: Region) -> Region | None:
    """The part that both have."""
    left, top = max(one.x, other.x), max(one.y, other.y)
    right = min(one.x + one.width, other.x + other.width)
    bottom = min(one.y + one.height, other.y + other.height)
    return Region(left, top, right - left, bottom - top) if right > left and bottom > top else None
