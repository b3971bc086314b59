"""Finds a part of a recorded picture in another one, and what was around it.

What is sought is alike in several places of many screens, as the buttons of a list's lines are.  So
it is told of each place how much of its line and of all that was around it is there again.
"""

from typing import Final

import cv2
import numpy as np

from schemas.values.pictures import Region
from server.vision.findings import Part, PlaceFound, Question
from server.vision.looking import pictures, pixels
from server.vision.looking.pictures import Found, Grey
from server.vision.looking.pixels import Box

SIMILARITY: Final = 0.85
"""Of the core, which also has to be alike part by part."""

_Looks = tuple[Grey, Grey]
"""How light the pixels of the screen are, and those of the recorded picture; or their edges."""


def places(question: Question, part: Part, content: bytes) -> tuple[PlaceFound, ...]:
    """Where the part may be, the likeliest first."""
    screen = pixels.decoded(content[: -part.length])
    recorded = pixels.decoded(content[-part.length :])
    shown = Question(region=part.picture, size=pixels.size_of(recorded))
    core, line, around = (_box(each, shown) for each in (part.core, part.line, part.around))
    sought = recorded[_rows(core), _columns(core)]
    scales = pictures.SCALES if part.scale is None else (part.scale,)
    greys = pictures.grey(screen), pictures.grey(recorded)
    both = greys, (pictures.edges(greys[0]), pictures.edges(greys[1]))
    found = pictures.find(screen, sought, SIMILARITY, scales)
    told = [_told(each, core, (line, around), both, question) for each in found]
    return tuple(sorted(told, key=lambda each: (-each.line, -each.around)))


def _told(
    found: Found,
    core: Box,
    others: tuple[Box, Box],
    both: tuple[_Looks, _Looks],
    question: Question,
) -> PlaceFound:
    scale = round(found.box.width / core.width, 4)
    line, around = (
        max(_part_there(found.box, core, other, scale, looks) for looks in both) for other in others
    )
    return PlaceFound(
        at=pixels.on_desktop(found.box, question),
        scale=scale,
        similarity=round(found.similarity, 3),
        line=round(line, 3),
        around=round(around, 3),
    )


def _part_there(found: Box, core: Box, other: Box, scale: float, looks: _Looks) -> float:
    """Which part of what was around the core is around what was found."""
    whole, recorded = looks
    sought = recorded[_rows(other), _columns(other)]
    if abs(scale - 1) > 0.01:
        sought = pictures.scaled(sought, scale)
        least = pictures.SCALED_PARTS_SIMILARITY
    else:
        least = pictures.PARTS_SIMILARITY
    left = round(found.x + (other.x - core.x) * scale)
    top = round(found.y + (other.y - core.y) * scale)
    height, width = sought.shape
    # What is beyond the screen's edges is not there: it is as if nothing were to be seen.
    bottom, right = max(0, top + height - whole.shape[0]), max(0, left + width - whole.shape[1])
    padded = cv2.copyMakeBorder(
        whole, max(0, -top), bottom, max(0, -left), right, cv2.BORDER_REPLICATE
    )
    top, left = max(0, top), max(0, left)
    there: Grey = np.asarray(padded[top : top + height, left : left + width], np.float32)
    return pictures.part_alike(there, sought, least)


def _box(region: Region, shown: Question) -> Box:
    """Where a recorded picture shows a part of the desktop, as far as it does."""
    scale_x, scale_y = (
        shown.region.width / shown.size.width,
        shown.region.height / shown.size.height,
    )
    left = max(0, round((region.x - shown.region.x) / scale_x))
    top = max(0, round((region.y - shown.region.y) / scale_y))
    right = min(shown.size.width, round((region.x + region.width - shown.region.x) / scale_x))
    bottom = min(shown.size.height, round((region.y + region.height - shown.region.y) / scale_y))
    if right <= left or bottom <= top:
        raise ValueError("the part is beside the picture")
    return Box(left, top, right - left, bottom - top)


def _rows(box: Box) -> slice:
    return slice(int(box.y), int(box.y + box.height))


def _columns(box: Box) -> slice:
    return slice(int(box.x), int(box.x + box.width))
