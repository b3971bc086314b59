"""Finds where texts are, tile by tile: of a few on a large screen the detector finds none.

What lies across a border of two tiles is found in both, and put together.
"""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from server.vision.looking.pixels import Pixels

LARGEST: Final = 800
"""Pixels of a tile's side."""

OVERLAP: Final = 100
"""Pixels that two tiles share: the height of a large line, and a few letters' width."""

SAME_LINE: Final = 0.6
"""Of the lower one's height, that two parts of one line share."""


class _Rectangle(NamedTuple):
    """A place of a text."""

    left: float
    top: float
    right: float
    bottom: float
    score: float


class TiledDetector:
    """Stands in the place of a reader's own detector, which it asks about each tile."""

    def __init__(self, detector: Callable[[Pixels], Any]) -> None:
        self._detector = detector

    def __call__(self, screen: Pixels) -> Any:
        """What the detector would say, with the places of all tiles."""
        found: list[_Rectangle] = []
        # It says for each tile which picture it has looked at, and how long that took.
        said = None
        for left, top, tile in _tiles(screen):
            said = self._detector(tile)
            if said.boxes is not None:
                for box, score in zip(said.boxes, said.scores, strict=True):
                    _add(found, _rectangle(box, left, top, float(score)))
        if said is not None:
            said.img = screen
            said.boxes = _corners(found) if found else None
            said.scores = tuple(each.score for each in found) if found else None
        return said


def _tiles(screen: Pixels) -> Iterator[tuple[int, int, Pixels]]:
    height, width = screen.shape[:2]
    for top, bottom in _spans(height):
        for left, right in _spans(width):
            yield left, top, screen[top:bottom, left:right]


def _spans(length: int) -> list[tuple[int, int]]:
    """Parts of a side, all about as long, each of which shares something with the next one."""
    number = max(1, ceil((length - OVERLAP) / (LARGEST - OVERLAP)))
    step = (length - OVERLAP) / number
    return [(round(step * each), round(step * (each + 1)) + OVERLAP) for each in range(number)]


def _add(found: list[_Rectangle], new: _Rectangle) -> None:
    """Add a place, or make those of the same line in other tiles one with it."""
    for other in tuple(found):
        if _is_same_line(other, new):
            found.remove(other)
            new = _Rectangle(
                min(other.left, new.left),
                min(other.top, new.top),
                max(other.right, new.right),
                max(other.bottom, new.bottom),
                max(other.score, new.score),
            )
    found.append(new)


def _is_same_line(one: _Rectangle, other: _Rectangle) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    lower = min(one.bottom - one.top, other.bottom - other.top)
    return shared > SAME_LINE * lower and min(one.right, other.right) > max(one.left, other.left)


def _rectangle(box: Any, left: int, top: int, score: float) -> _Rectangle:
    across, down = [float(x) for x, _ in box], [float(y) for _, y in box]
    return _Rectangle(
        min(across) + left, min(down) + top, max(across) + left, max(down) + top, score
    )


def _corners(found: list[_Rectangle]) -> NDArray[np.float32]:
    return np.array(
        [
            [(r.left, r.top), (r.right, r.top), (r.right, r.bottom), (r.left, r.bottom)]
            for r in found
        ],
        dtype=np.float32,
    )
