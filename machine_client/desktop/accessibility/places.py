"""Where elements are on the desktop, and where a click reaches them.  Without I/O of its own."""

from collections.abc import Sequence
from typing import Final

from machine_client.desktop.accessibility.looking import Seen
from machine_client.desktop.accessibility.windows import (
    DesktopWindow,
    Placement,
    Windows,
    common,
    holds,
    is_of,
    placement_of,
)
from schemas.inputs.outcomes import Point
from schemas.link.element_messages import MAX_COVERED
from schemas.values.pictures import Region

_CLIPPING: Final = frozenset(
    {"viewport", "scroll pane", "document web", "document frame", "internal frame", "filler"}
)
"""What hides the parts of what is in it that are beyond its edges."""


class Places:
    """Places of elements whose bounds are known; ``seen`` are the desktop's windows."""

    def __init__(self, seen: Sequence[DesktopWindow], windows: Windows | None) -> None:
        self._seen = seen
        self._windows = windows
        self._placements: dict[int, Placement | None] = {}

    def is_relative(self, seen: Seen) -> bool:
        """Whether its places have to be asked for from its window's corner."""
        placement = self._placement(seen)
        if placement is None or not placement.relative:
            return False
        # Where programs know no screen, theirs begins at the window's corner; asked for the places
        # from there, Qt 5 tells others.
        return seen.program.knows_no_screen or not placement.window.is_blind

    def bounds(self, seen: Seen) -> Region | None:
        """Where it is, in the desktop's pixels; None where that cannot be told for sure."""
        placement = self._placement(seen)
        if placement is None or seen.node.bounds is None:
            return None
        return placement.on_desktop(seen.node.bounds)

    def covered(self, seen: Seen) -> list[Region]:
        """The parts of its bounds over which windows lie that it is not in."""
        placement, bounds = self._placement(seen), self.bounds(seen)
        if placement is None or bounds is None:
            return []
        parts: list[Region] = []
        for window in self._seen:
            if window.id == placement.window.id or len(parts) == MAX_COVERED:
                break
            part = common(bounds, window.outer)
            if part is not None and not is_of(window, seen.node, bounds, placement):
                parts.append(part)
        return parts

    def reached(self, seen: Seen) -> Point | None:
        """The middle of what can be seen of it, if a click there goes to it."""
        placement, bounds = self._placement(seen), self.bounds(seen)
        if placement is None or bounds is None or self._windows is None:
            return None
        for part in (bounds, self._uncovered(seen, placement, bounds)):
            if part is None:
                continue
            middle = Point(x=part.x + part.width // 2, y=part.y + part.height // 2)
            window = self._windows.at(middle.x, middle.y)
            if window is None or not is_of(window, seen.node, bounds, placement):
                continue
            # Only in a menu of its own can something be beyond the edges of what it is in.
            if part is not bounds or window.id != placement.window.id:
                return middle
        return None

    def is_at(self, seen: Seen, at: Point, window: DesktopWindow) -> bool:
        """Whether an element is at a place, in the window that is on top there."""
        placement, bounds = self._placement(seen), self.bounds(seen)
        if placement is None or bounds is None or not holds(bounds, at.x, at.y):
            return False
        if not is_of(window, seen.node, bounds, placement):
            return False
        if window.id != placement.window.id:
            return True
        part = self._uncovered(seen, placement, bounds)
        return part is not None and holds(part, at.x, at.y)

    def _uncovered(self, seen: Seen, placement: Placement, bounds: Region) -> Region | None:
        """What of it is within the edges of what it is in, and of its window."""
        part = common(bounds, placement.window.bounds)
        for each in seen.node.ancestors:
            if part is not None and each.bounds is not None:
                within = common(part, placement.on_desktop(each.bounds))
                # What is wholly beyond a section was put there, unless that one scrolls.
                part = within if within is not None or each.role in _CLIPPING else part
        return part

    def _placement(self, seen: Seen) -> Placement | None:
        window = seen.node.window
        if id(window) not in self._placements:
            self._placements[id(window)] = placement_of(window, seen.program.pid, self._seen)
        return self._placements[id(window)]
