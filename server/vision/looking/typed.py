"""Where a picture shows a text that was typed, and the room in which another one would stand."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from server.vision.looking.pixels import Box, Pixels

DIFFERS: Final = 32
"""Levels, of 255, by which a pixel is another one than before."""

LETTERS: Final = (24, 6)
"""Pixels across and down between two signs of one text at most."""

LOWEST: Final = 6
TALLEST: Final = 40
"""Pixels of a typed line: what is higher is no text in a field."""

EMPTY: Final = 8
"""Levels by which pixels of a field's ground differ from those beside them."""

SAME: Final = 0.08
"""So much of a place may differ from how it looked after the text was typed: as much as a caret."""

BESIDE: Final = 2

HIGHER: Final = 8
"""Pixels by which other letters reach higher or lower."""


def rooms_of(typed: Iterable[tuple[Pixels, Pixels]], recorded: Pixels) -> list[Box]:
    """Where a later picture shows texts of which there is one from before and after each.

    A text that is not there any more, or elsewhere by then, has none.
    """
    return [
        _room(before, box)
        for before, after in typed
        if before.shape == after.shape == recorded.shape
        for box in _changed(before, after)
        if _differing(_of(after, box), _of(recorded, box)) <= SAME
    ]


def _changed(before: Pixels, after: Pixels) -> Iterator[Box]:
    differs: Any = (cv2.absdiff(before, after).max(axis=2) >= DIFFERS).astype(np.uint8)
    across, down = LETTERS
    whole = cv2.morphologyEx(differs, cv2.MORPH_CLOSE, np.ones((down + 1, across + 1), np.uint8))
    for x, y, width, height, _ in cv2.connectedComponentsWithStats(whole)[2][1:].tolist():
        if LOWEST <= height <= TALLEST:
            yield Box(x, y, width, height)


def _differing(one: Pixels, other: Pixels) -> float:
    return float((cv2.absdiff(one, other).max(axis=2) >= DIFFERS).mean())


def _room(before: Pixels, box: Box) -> Box:
    """As much around a text as was empty before it: to the sides of its field."""
    left, top = int(box.x), int(box.y)
    right, bottom = left + int(box.width), top + int(box.height)
    left, right = _grown(before[top:bottom], left, right)
    above = max(0, top - HIGHER)
    part = before[above : bottom + HIGHER, left:right].transpose(1, 0, 2)
    top, bottom = (each + above for each in _grown(part, top - above, bottom - above))
    return Box(left, top, right - left, bottom - top)


def _grown(band: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    """As far across as nothing differs from what is beside it."""
    steps = np.abs(np.diff(band.max(axis=2).astype(np.int16), axis=1)).max(axis=0) >= EMPTY
    walls = np.flatnonzero(steps)
    befores, afters = walls[walls < start - BESIDE], walls[walls >= end]
    return (
        int(befores[-1]) + 1 if befores.size else 0,
        int(afters[0]) + 1 if afters.size else band.shape[1],
    )


def _of(picture: Pixels, box: Box) -> Pixels:
    left, top = int(box.x), int(box.y)
    return picture[top : top + int(box.height), left : left + int(box.width)]
