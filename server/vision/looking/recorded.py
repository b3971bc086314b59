"""Finds a part of a recorded picture in another one, and tells what was around it.

What is sought is alike in several places of many screens, as the buttons of a list's lines are.  So
it is told of each place how much of its line and of all that was around it is there again, part by
part.  Edges alone are compared, which are there in any colours, and blurred a little, which takes
away what JPEG has made of the recorded picture.
"""

from collections.abc import Iterator
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from schemas.values.pictures import Region, Size
from server.vision.findings import MOST_PLACES, Part, PlaceFound, Question
from server.vision.looking import pixels
from server.vision.looking.pixels import Box, Pixels

Edges = NDArray[np.float32]

SCALES: Final = (1.0, 1.25, 0.8)

SIMILARITY: Final = 0.8
"""Of the core as a whole, to be looked at part by part."""

PART: Final = 10
STEP: Final = 5
"""Pixels of a part's side, some letter's, and between two parts."""

ALIKE: Final = 0.88
"""For each part: `python -m tests.finding --thresholds` says what sets it."""

DISTINCT: Final = 12.0
"""Grey levels by which a part's edges differ where there is something to see."""

CORE: Final = 0.95
"""Which part of the core is alike at least where it may be at all."""

LARGEST_PART: Final = 2_000_000
"""Pixels of what is around; more would take too long."""


def places(question: Question, part: Part, content: bytes) -> tuple[PlaceFound, ...]:
    """Where the part may be, the likeliest first."""
    screen = edges(pixels.decoded(content[: -part.length]))
    recorded = edges(pixels.decoded(content[-part.length :]))
    shown = Question(region=part.picture, size=Size(recorded.shape[1], recorded.shape[0]))
    core, *others = (box_in(each, shown) for each in (part.core, part.line, part.around))
    if max(each.width * each.height for each in others) > LARGEST_PART:
        raise ValueError("the part is too large")
    for scale in SCALES if part.scale is None else (part.scale,):
        sought = _scaled(_cut(recorded, core), scale)
        found = []
        for x, y, similarity in _peaks(screen, sought):
            there = Box(x, y, sought.shape[1], sought.shape[0])
            if part_alike(_cut(screen, there), sought) < CORE:
                continue
            line, around = (_there_again(screen, recorded, there, core, each) for each in others)
            found.append(
                PlaceFound(
                    at=pixels.on_desktop(there, question),
                    scale=scale,
                    similarity=round(similarity, 3),
                    line=line,
                    around=around,
                )
            )
        if found:
            return tuple(sorted(found, key=lambda each: (-each.line, -each.around)))
    return ()


def edges(picture: Pixels) -> Edges:
    """How much each pixel differs from those around it, whichever way."""
    grey: Any = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    grey = cv2.GaussianBlur(grey, (3, 3), 0)
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    found: Edges = np.clip(cv2.magnitude(across, down) / 4, 0, 255).astype(np.float32)
    return found


def part_alike(there: Edges, sought: Edges) -> float:
    """Which part of what there is to see, in one or the other, is alike in both; 1 of nothing."""
    # What is drawn dimmer is still the same.
    there = there * (float(sought.std()) / max(float(there.std()), 1e-3))
    ones, others = _parts(there), _parts(sought)
    ones, others = ones - ones.mean(1, keepdims=True), others - others.mean(1, keepdims=True)
    is_seen = np.maximum(ones.std(1), others.std(1)) >= DISTINCT
    if not is_seen.any():
        return 1.0
    ones, others = ones[is_seen], others[is_seen]
    norms = np.sqrt((ones * ones).sum(1) * (others * others).sum(1))
    likeness = (ones * others).sum(1) / np.maximum(norms, 1e-6)
    return float((likeness >= ALIKE).mean())


def _parts(picture: Edges) -> Edges:
    """All parts of a picture, one a row."""
    height, width = picture.shape
    if min(height, width) < PART:
        return picture.reshape(1, -1)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (PART, PART))[::STEP, ::STEP]
    parts: Edges = windows.reshape(-1, PART * PART)
    return parts


def _peaks(screen: Edges, sought: Edges) -> Iterator[tuple[int, int, float]]:
    """The likeliest places, none of them within half of a better one's size."""
    height, width = sought.shape
    is_larger = height > screen.shape[0] or width > screen.shape[1]
    if is_larger or min(height, width) < PART or float(sought.std()) < 1:
        return
    alike: Any = cv2.matchTemplate(screen, sought, cv2.TM_CCOEFF_NORMED)
    for _ in range(MOST_PLACES):
        _, value, _, (x, y) = cv2.minMaxLoc(alike)
        if value < SIMILARITY:
            return
        yield x, y, float(value)
        left, top = max(0, x - width // 2), max(0, y - height // 2)
        alike[top : y + height // 2 + 1, left : x + width // 2 + 1] = -1


def _there_again(screen: Edges, recorded: Edges, found: Box, core: Box, other: Box) -> float:
    """Which part of what was around the core is around what was found."""
    scale = found.width / core.width
    sought = _scaled(_cut(recorded, other), scale)
    height, width = sought.shape
    left = round(found.x + (other.x - core.x) * scale)
    top = round(found.y + (other.y - core.y) * scale)
    # Beyond the screen's edges there is nothing to see.
    there = np.zeros_like(sought)
    rows = max(0, top), min(screen.shape[0], top + height)
    columns = max(0, left), min(screen.shape[1], left + width)
    there[rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left] = screen[
        rows[0] : rows[1], columns[0] : columns[1]
    ]
    return round(part_alike(there, sought), 4)


def _scaled(part: Edges, scale: float) -> Edges:
    if abs(scale - 1) < 0.01:
        return part
    size = max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(part, size, interpolation=how).astype(np.float32)


def _cut(picture: Edges, box: Box) -> Edges:
    top, left = int(box.y), int(box.x)
    return picture[top : top + int(box.height), left : left + int(box.width)]


def box_in(region: Region, shown: Question) -> Box:
    """Where a recorded picture shows a part of the desktop, as far as it does."""
    width, height = shown.size
    scale_x, scale_y = shown.region.width / width, shown.region.height / height
    left = max(0, round((region.x - shown.region.x) / scale_x))
    top = max(0, round((region.y - shown.region.y) / scale_y))
    right = min(width, round((region.x + region.width - shown.region.x) / scale_x))
    bottom = min(height, round((region.y + region.height - shown.region.y) / scale_y))
    if right <= left or bottom <= top:
        raise ValueError("the part is beside the picture")
    return Box(left, top, right - left, bottom - top)
