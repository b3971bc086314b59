"""Finds where texts are, tile by tile: of a few on a large screen the detector finds none.

What lies across a border of two tiles is found in both, and put together.  Of very large
screens only those parts are looked at where there is anything to see: most is of one colour.
"""

from collections.abc import Iterator
from math import ceil
from typing import Any, Final, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from server.vision.looking.pixels import Pixels

LARGEST: Final = 800
"""Pixels of a tile's side."""

OVERLAP: Final = 100
"""Pixels that two tiles share: the height of a large line, and a few letters' width."""

SAME_LINE: Final = 0.6
"""Of the lower one's height, that two parts of one line share."""


WHOLE: Final = 2000
"""Pixels of the longer side of screens that are looked at everywhere, which is quick enough.

In a part an edge of something can be taken for a letter, which is told with a low score."""

DISTINCT: Final = 32
"""Levels, of 255, by which a pixel of a letter differs from one beside it, in some colour."""

AROUND: Final = 24
"""Pixels around what there is to see that are looked at too, and wider gaps part two lines."""

SMALLEST: Final = 128
"""Pixels of a part's side: what is smaller the detector enlarges.

Of a whole small picture it enlarges more, whose texts may reach to its edges."""

MOST_PARTS: Final = 40
"""Of a tile, which is looked at as a whole where it has more."""


class _Part(NamedTuple):
    """Something of a tile, in its pixels."""

    left: int
    top: int
    right: int
    bottom: int


class _Rectangle(NamedTuple):
    """A place of a text."""

    left: float
    top: float
    right: float
    bottom: float
    score: float


class TiledDetector:
    """Stands in the place of a reader's own detector, which it asks about each tile."""

    def __init__(self, detector: Any) -> None:
        self._detector = detector
        self._smallest_picture = detector.limit_side_len

    def __call__(self, screen: Pixels) -> Any:
        """What the detector would say, with the places of all tiles."""
        found: list[_Rectangle] = []
        # It says for each tile which picture it has looked at, and how long that took.
        said = None
        is_large = max(screen.shape[:2]) > WHOLE
        self._detector.limit_side_len = SMALLEST if is_large else self._smallest_picture
        for left, top, tile in _tiles(screen, parts_alone=is_large):
            said = self._detector(tile)
            if said.boxes is not None:
                for box, score in zip(said.boxes, said.scores, strict=True):
                    _add(found, _rectangle(box, left, top, float(score)))
        if said is None:
            # There is nothing to see, in no tile.
            said = self._detector(screen[:SMALLEST, :SMALLEST])
        if said is not None:
            said.img = screen
            said.boxes = _corners(found) if found else None
            said.scores = tuple(each.score for each in found) if found else None
        return said


def _tiles(screen: Pixels, *, parts_alone: bool) -> Iterator[tuple[int, int, Pixels]]:
    height, width = screen.shape[:2]
    for top, bottom in _spans(height):
        for left, right in _spans(width):
            tile = screen[top:bottom, left:right]
            whole = _Part(0, 0, right - left, bottom - top)
            for part in _with_something_to_see(tile) if parts_alone else [whole]:
                yield (
                    left + part.left,
                    top + part.top,
                    tile[part.top : part.bottom, part.left : part.right],
                )


def _with_something_to_see(tile: Pixels) -> list[_Part]:
    """The parts of a tile that are not of one colour, none of which shares anything."""
    kernel = np.ones((3, 3), np.uint8)
    differs = cv2.morphologyEx(tile, cv2.MORPH_GRADIENT, kernel).max(axis=2) >= DISTINCT
    around = np.ones((2 * AROUND + 1, 2 * AROUND + 1), np.uint8)
    found: Any = cv2.connectedComponentsWithStats(cv2.dilate(differs.astype(np.uint8), around))
    boxes = found[2][1:, :4].tolist()
    height, width = tile.shape[:2]
    if len(boxes) > MOST_PARTS:
        return [_Part(0, 0, width, height)]
    parts: list[_Part] = []
    for x, y, across, down in boxes:
        (left, right), (top, bottom) = (
            _grown(x, x + across, width),
            _grown(y, y + down, height),
        )
        new = _Part(left, top, right, bottom)
        while (other := next((each for each in parts if _share(each, new)), None)) is not None:
            parts.remove(other)
            new = _Part(
                min(other.left, new.left),
                min(other.top, new.top),
                max(other.right, new.right),
                max(other.bottom, new.bottom),
            )
        parts.append(new)
    return parts


def _grown(start: int, end: int, length: int) -> tuple[int, int]:
    """A part of a side that is as long as it has to be."""
    missing = max(0, SMALLEST - (end - start))
    start = max(0, min(start - missing // 2, length - max(SMALLEST, end - start)))
    return start, min(length, max(end, start + SMALLEST))


def _share(one: _Part, other: _Part) -> bool:
    return max(one.left, other.left) < min(one.right, other.right) and max(
        one.top, other.top
    ) < min(one.bottom, other.bottom)


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
