"""Finds a picture in another, as large or a little larger or smaller, in whatever colours.

What is alike as a whole can differ in the one letter that counts: so each part of what is found has
to be alike as well.  `find` says where it may be, and `chosen` decides, which may be for none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from server.vision.looking.pixels import Box, Pixels

SCALES: Final = (1.0, 1.25, 0.8)
"""The nearest first: what is found at one is not sought at the next."""

NEAR: Final = 32.0
"""Pixels between a place and one that is near it."""

SAME: Final = 0.9995
"""Pixel for pixel, but for rounding: what only looks alike is never that."""

MOST_FOUND: Final = 16

PART: Final = 10
"""Pixels of a side: some letter's."""

PARTS_SIMILARITY: Final = 0.9
"""For each part.  Of 1,820 pairs of letters and digits in ten fonts, 8 of which the eye cannot tell
apart pass; with 0.8 and parts of 12 pixels 162 do."""

SCALED_PARTS_SIMILARITY: Final = 0.75
"""The same at another scale, where each letter is drawn anew."""

DIMMEST: Final = 0.2
"""So much of its contrast is left of what is drawn dim, as what is disabled is."""

DISTINCT: Final = 12.0
"""Grey levels, of 255, by which pixels differ where there is something to see."""

SMALLEST_SIDE: Final = 6

Grey = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """Where it may be, and how alike that is."""

    box: Box
    similarity: float


def find(screen: Pixels, sought: Pixels, similarity: float) -> list[Found]:
    """Where a picture may be: by its greys, else by its edges, which are there in any colours."""
    greys = _grey(screen), _grey(sought)
    if float(greys[1].std()) < 1:
        return []  # Of one colour: it is everywhere and nowhere.
    for scale in SCALES:
        for looks in (greys, None):
            whole, part = looks or (_edges(greys[0]), _edges(greys[1]))
            if found := _at_scale(whole, part, scale, similarity):
                return found
    return []


def chosen(found: Sequence[Found], near: tuple[float, float] | None) -> Box | None:
    """The only one, or that near its place, or the only one that is the very same.

    None where several could be it.
    """
    if len(found) == 1:
        return found[0].box
    if near is not None and found:
        closest = min(found, key=lambda each: _distance(each.box, near))
        if _distance(closest.box, near) <= NEAR:
            return closest.box
    same = [each for each in found if each.similarity >= SAME]
    return same[0].box if len(same) == 1 else None


def _at_scale(whole: Grey, part: Grey, scale: float, similarity: float) -> list[Found]:
    least = PARTS_SIMILARITY if scale == 1 else SCALED_PARTS_SIMILARITY
    if scale != 1:
        part = _scaled(part, scale)
    height, width = part.shape
    if min(width, height) < SMALLEST_SIDE or width > whole.shape[1] or height > whole.shape[0]:
        return []
    alike: Any = cv2.matchTemplate(whole, part, cv2.TM_CCOEFF_NORMED)
    # Where there is nothing to see, it is like everything.
    alike[_contrasts(whole, (width, height)) < DIMMEST * float(part.std())] = -1
    return [
        Found(Box(x, y, width, height), value)
        for x, y, value in _peaks(alike, (width, height), similarity)
        if _parts_are_alike(whole[y : y + height, x : x + width], part, least)
    ]


def _contrasts(whole: Grey, size: tuple[int, int]) -> Grey:
    """How much there is to see in each part of this size."""
    width, height = size
    means: Any
    squares: Any
    means, squares = (
        cv2.boxFilter(each, cv2.CV_64F, size, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
        for each in (whole, whole * whole)
    )
    valid = np.s_[: whole.shape[0] - height + 1, : whole.shape[1] - width + 1]
    variances: Grey = np.maximum(squares[valid] - means[valid] ** 2, 0).astype(np.float32)
    return np.sqrt(variances)


def _peaks(
    alike: NDArray[np.float32], size: tuple[int, int], least: float
) -> Iterator[tuple[int, int, float]]:
    """The best places, none of them within half a picture of a better one."""
    width, height = size
    for _ in range(MOST_FOUND):
        _, value, _, (x, y) = cv2.minMaxLoc(alike)
        if value < least:
            return
        yield x, y, float(value)
        left, top = max(0, x - width // 2), max(0, y - height // 2)
        alike[top : y + height // 2 + 1, left : x + width // 2 + 1] = -1


def _parts_are_alike(there: Grey, sought: Grey, least: float) -> bool:
    """Whether each part with something to see, in one or the other, is alike in both."""
    height, width = sought.shape
    step = PART // 2
    # What is drawn dimmer, or the other way round, is still the same.
    there = there * (float(sought.std()) / max(float(there.std()), 1e-3))
    for top in _starts(height, step):
        for left in _starts(width, step):
            one = there[top : top + PART, left : left + PART]
            other = sought[top : top + PART, left : left + PART]
            if _correlation(one, other) < least:
                return False
    return True


def _starts(length: int, step: int) -> range:
    return range(0, max(1, length - PART + 1), step)


def _correlation(one: Grey, other: Grey) -> float:
    one, other = one - one.mean(), other - other.mean()
    if max(float(one.std()), float(other.std())) < DISTINCT:
        return 1.0
    norm = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum()) / norm if norm > 0 else 0.0


def _grey(pixels: Pixels) -> Grey:
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)


def _edges(grey: Grey) -> Grey:
    """How much each pixel differs from those around it, whichever way."""
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    return np.clip(cv2.magnitude(across, down) / 4, 0, 255).astype(np.float32)


def _scaled(part: Grey, scale: float) -> Grey:
    size = round(part.shape[1] * scale), round(part.shape[0] * scale)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(part, size, interpolation=how).astype(np.float32)


def _distance(box: Box, place: tuple[float, float]) -> float:
    x, y = box.middle
    return float(np.hypot(x - place[0], y - place[1]))
