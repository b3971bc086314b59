"""Finds a part of a recorded picture in another one, and tells what was around it.

What is sought is alike in several places of many screens, as the buttons of a list's lines are.  So
it is told of each place how much of its line and of all that was around it is there again, part by
part.  Edges alone are compared, which are there in any colours, and blurred a little, which takes
away what JPEG has made of the recorded picture.  Where no line is all there, those of letters and
signs are compared: boxes are drawn otherwise with the focus, under the pointer and in other themes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from schemas.values.pictures import Region, Size
from server.vision.findings import MOST_PLACES, Part, PlaceFound, Question
from server.vision.looking import pixels
from server.vision.looking.letters import without_lines
from server.vision.looking.pixels import Box, Pixels
from server.vision.looking.typed import rooms_of

Edges = NDArray[np.float32]
S = TypeVar("S", np.float32, np.uint8)

SCALES: Final = (1.0, 1.25, 1.5, 2.0)
"""What a display can be set to; what is found at one is not sought at the next.

None is smaller: at 0.8 a line that differs in one character is all there.  A program that draws
itself anew at another scale is found by its texts, if at all.
"""

SIMILARITY: Final = 0.8
"""Of the core as a whole, to be looked at part by part."""

TYPED_SIMILARITY: Final = 0.5
"""The same where something else was typed in it."""

POINTER: Final = (12, 12, 20, 24)
"""Pixels that a pointer covers at most, to the left of its place, above, to the right and below."""

PART: Final = 10
STEP: Final = 5
"""Pixels of a part's side, some letter's, and between two parts."""

ALIKE: Final = 0.88
"""For each part: `python -m tests.finding --thresholds` says what sets it."""

EDGE: Final = 4
"""Pixels around what is sought, which its edges are told by."""

WHOLE: Final = 60
"""So many pixels are whole ones at each scale: what is cut there is scaled as all of it is."""

DISTINCT: Final = 12.0
"""Grey levels by which a part's edges differ where there is something to see."""

CORE: Final = 0.95
"""Which part of the core is alike at least where it may be at all."""

AS_STRONG: Final = 0.67
"""How strongly an edge is drawn at least, of how it was, where that tells what keys go to: the
border of a field that has the focus is drawn about twice as strongly."""

FEWEST_LETTERS: Final = 12
"""Parts of a line with letters, by which alone it can be told: those of a short word."""

LARGEST_PART: Final = 2_000_000
"""Pixels of what is around; more would take too long."""


def places(question: Question, part: Part, content: bytes) -> tuple[PlaceFound, ...]:
    """Where the part may be, the likeliest first."""
    looked_at, kept, typed = part.taken_apart(content)
    screen, recorded = pixels.decoded(looked_at), pixels.decoded(kept)
    shown = Question(region=part.picture, size=Size(recorded.shape[1], recorded.shape[0]))
    boxes = [box_in(each, shown) for each in (part.core, part.line, part.around)]
    if max(each.width * each.height for each in boxes[1:]) > LARGEST_PART:
        raise ValueError("the part is too large")
    other = _others(part, recorded, typed, shown)
    drawn = edges(screen)
    found: tuple[PlaceFound, ...] = ()
    for scale in SCALES if part.scale is None else (part.scale,):
        sought = _Sought.at(scale, recorded, boxes, edges, other, for_keys=part.for_keys)
        found = found or _found(sought, drawn, question)
        if abs(scale - 1) < 0.01 and not part.for_keys and not _is_whole(found):
            sought = _Sought.at(scale, recorded, boxes, letters, other)
            if sought.can_be_told and _is_whole(again := _found(sought, letters(screen), question)):
                return again
        if found:
            break
    return found


def _found(sought: "_Sought", screen: Edges, question: Question) -> tuple[PlaceFound, ...]:
    found = [
        PlaceFound(
            at=pixels.on_desktop(there, question),
            scale=sought.scale,
            similarity=round(similarity, 3),
            line=sought.there_again(screen, there, sought.line),
            around=sought.there_again(screen, there, sought.around),
        )
        for there, similarity in sought.places(screen)
    ]
    return tuple(sorted(found, key=lambda each: (-each.line, -each.around)))


def _others(
    part: Part, recorded: Pixels, typed: Sequence[tuple[bytes, bytes]], shown: Question
) -> list[Box]:
    """Where a recorded picture shows what is not to be compared."""
    pairs = [(pixels.decoded(before), pixels.decoded(after)) for before, after in typed]
    found = rooms_of(pairs, recorded)
    if part.rested is None:
        return found
    x, y = pixels.in_picture(part.rested, shown)
    left, top, right, bottom = POINTER
    return [*found, Box(x - left, y - top, left + right, top + bottom)]


def _is_whole(found: Sequence[PlaceFound]) -> bool:
    """Whether all of a line is there somewhere."""
    return any(each.line == 1 for each in found)


@dataclass(frozen=True, slots=True)
class _Sought:
    """What was around a place, as it would be drawn at a scale, and where in that it is."""

    scale: float
    drawn: Edges
    core: Box
    line: Box
    around: Box
    others: NDArray[np.uint8]
    for_keys: bool

    @classmethod
    def at(
        cls,
        scale: float,
        recorded: Pixels,
        boxes: Sequence[Box],
        seen: Callable[[Pixels], Edges],
        others: Sequence[Box] = (),
        *,
        for_keys: bool = False,
    ) -> "_Sought":
        """Scaled before its edges are sought: those of a larger picture are as thin."""
        height, width = recorded.shape[:2]
        left, top = (
            max(0, int(min(each[side] for each in boxes)) - EDGE) // WHOLE * WHOLE
            for side in (0, 1)
        )
        right = min(width, int(max(each.x + each.width for each in boxes)) + EDGE)
        bottom = min(height, int(max(each.y + each.height for each in boxes)) + EDGE)
        cut = recorded[top:bottom, left:right]
        if abs(scale - 1) >= 0.01:
            size = max(1, round(cut.shape[1] * scale)), max(1, round(cut.shape[0] * scale))
            how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
            cut = cv2.resize(cut, size, interpolation=how).astype(np.uint8)
        core, line, around, *further = (
            Box(
                round((each.x - left) * scale),
                round((each.y - top) * scale),
                max(1, round(each.width * scale)),
                max(1, round(each.height * scale)),
            )
            for each in (*boxes, *others)
        )
        drawn = seen(cut)
        other = np.zeros(drawn.shape, np.uint8)
        for each in further:
            _cut(other, Box(max(0, each.x), max(0, each.y), each.width, each.height))[:] = 1
        drawn[other > 0] = 0
        return cls(scale, drawn, core, line, around, other, for_keys)

    @property
    def can_be_told(self) -> bool:
        """Whether there is enough to see in its line."""
        strong = _parts(_cut(self.drawn, self.line)).std(1)
        return int((strong >= DISTINCT).sum()) >= FEWEST_LETTERS

    def places(self, screen: Edges) -> Iterator[tuple[Box, float]]:
        """Where all of the core may be, and how alike it is as a whole."""
        core, other = _cut(self.drawn, self.core), _cut(self.others, self.core)
        least = TYPED_SIMILARITY if other.any() else SIMILARITY
        for x, y, similarity in _peaks(screen, core, least):
            there = Box(x, y, core.shape[1], core.shape[0])
            now = np.where(other > 0, 0, _cut(screen, there))
            if part_alike(now, core, other, as_strong=self.for_keys) >= CORE:
                yield there, similarity

    def there_again(self, screen: Edges, found: Box, other: Box) -> float:
        """Which part of what was around the core is around what was found."""
        sought = _cut(self.drawn, other)
        height, width = sought.shape
        left = round(found.x + other.x - self.core.x)
        top = round(found.y + other.y - self.core.y)
        # Beyond the screen's edges there is nothing to see.
        there = np.zeros_like(sought)
        rows = max(0, top), min(screen.shape[0], top + height)
        columns = max(0, left), min(screen.shape[1], left + width)
        there[rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left] = screen[
            rows[0] : rows[1], columns[0] : columns[1]
        ]
        ignored = _cut(self.others, other)
        there[ignored > 0] = 0
        return round(part_alike(there, sought, ignored, as_strong=self.for_keys), 4)


def edges(picture: Pixels) -> Edges:
    """How much each pixel differs from those around it, whichever way."""
    grey: Any = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32)
    grey = cv2.GaussianBlur(grey, (3, 3), 0)
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    found: Edges = np.clip(cv2.magnitude(across, down) / 4, 0, 255).astype(np.float32)
    return found


def letters(picture: Pixels) -> Edges:
    """The edges of letters and signs alone."""
    return without_lines(picture, edges(picture))


def part_alike(
    there: Edges,
    sought: Edges,
    other: NDArray[np.uint8] | None = None,
    *,
    as_strong: bool = False,
) -> float:
    """Which part of what there is to see, in one or the other, is alike in both; 1 of nothing.

    What is ``other`` in any case is not looked at.  ``as_strong`` is that it has to be drawn as
    strongly as well.
    """
    # What is drawn dimmer is still the same.
    there = there * (float(sought.std()) / max(float(there.std()), 1e-3))
    ones, others = _parts(there), _parts(sought)
    ones, others = ones - ones.mean(1, keepdims=True), others - others.mean(1, keepdims=True)
    strong, other_strong = ones.std(1), others.std(1)
    is_seen = np.maximum(strong, other_strong) >= DISTINCT
    if other is not None and other.any():
        is_seen &= _parts(other).max(1) == 0
    if not is_seen.any():
        return 1.0
    ones, others = ones[is_seen], others[is_seen]
    norms = np.sqrt((ones * ones).sum(1) * (others * others).sum(1))
    is_alike = (ones * others).sum(1) / np.maximum(norms, 1e-6) >= ALIKE
    if as_strong:
        weaker, stronger = np.minimum(strong, other_strong), np.maximum(strong, other_strong)
        is_alike &= (weaker >= AS_STRONG * stronger)[is_seen]
    return float(is_alike.mean())


def _parts(picture: NDArray[S]) -> NDArray[S]:
    """All parts of a picture, one a row."""
    height, width = picture.shape
    if min(height, width) < PART:
        return picture.reshape(1, -1)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (PART, PART))[::STEP, ::STEP]
    parts: NDArray[S] = windows.reshape(-1, PART * PART)
    return parts


def _peaks(screen: Edges, sought: Edges, least: float) -> Iterator[tuple[int, int, float]]:
    """The likeliest places, none of them within half of a better one's size."""
    height, width = sought.shape
    is_larger = height > screen.shape[0] or width > screen.shape[1]
    if is_larger or min(height, width) < PART or float(sought.std()) < 1:
        return
    alike: Any = cv2.matchTemplate(screen, sought, cv2.TM_CCOEFF_NORMED)
    for _ in range(MOST_PLACES):
        _, value, _, (x, y) = cv2.minMaxLoc(alike)
        if value < least:
            return
        yield x, y, float(value)
        left, top = max(0, x - width // 2), max(0, y - height // 2)
        alike[top : y + height // 2 + 1, left : x + width // 2 + 1] = -1


def _cut(picture: NDArray[S], box: Box) -> NDArray[S]:
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
