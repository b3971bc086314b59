"""Whether a screen is still, or has changed, as far as its pictures say: no I/O and no clock here.

A small change, as of a caret that blinks, leaves a screen still.  For whoever waits for a change it
counts once it has stayed for a second: a caret that blinks is back before, a box that was ticked is
not.
"""

from collections.abc import Sequence
from typing import Final

from PIL import Image, ImageChops

from machine_client.desktop.base import RawFrame
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import Area
from schemas.inputs.waits import Changed, Condition, ElementSeen, Still
from schemas.values.pictures import Region

SMALL_WIDTH: Final = 24
SMALL_HEIGHT: Final = 48
"""A change within so many of the desktop's pixels is small: a caret, or a block in a terminal."""

POINTER_MARGIN: Final = 16
POINTER_SIDE: Final = 32
"""Of the desktop's pixels, before and behind its place: what changes there may be the pointer."""

STAYS_SECONDS: Final = 1.0
"""Carets come back sooner: they are away for 0.3 to 0.6 s."""

_Box = tuple[int, int, int, int]
"""Left, top, right and bottom, in a frame's own pixels."""


class Judge:
    """Says when a screen meets the first of some conditions that can be seen in its pixels.

    ``before`` is what changes are told by, ``at`` is when the wait began.  Times are seconds of any
    one clock.
    """

    def __init__(self, conditions: Sequence[Condition], before: RawFrame, at: float) -> None:
        self._judges = {
            number: _judge_of(each, before, at)
            for number, each in enumerate(conditions)
            if not isinstance(each, ElementSeen)
        }

    def saw(self, frame: RawFrame, at: float) -> None:
        """The screen shows this."""
        for judge in self._judges.values():
            judge.saw(frame, at)

    def met(self, at: float) -> tuple[int, Region | None] | None:
        """Which condition is met, and where the change was that met it; None where none is."""
        for number, judge in self._judges.items():
            if judge.due_at is not None and at >= judge.due_at:
                return number, judge.place
        return None

    @property
    def due_at(self) -> float | None:
        """When the next of them is met if the screen stays as it is; None where none is."""
        return min(
            (each.due_at for each in self._judges.values() if each.due_at is not None), default=None
        )


class _StillJudge:
    """``due_at`` is when the screen has been still for long enough."""

    place: Region | None = None

    def __init__(self, condition: Still, before: RawFrame, at: float) -> None:
        self._condition = condition
        self._last = before
        self.due_at: float | None = at + condition.still

    def saw(self, frame: RawFrame, at: float) -> None:
        """Compare with the last frame that counted, so that small changes add up."""
        change = change_between(self._last, frame, self._condition)
        if change is not None and not is_small(change):
            self._last = frame
            self.due_at = at + self._condition.still


class _ChangeJudge:
    """``due_at`` is when the change has been there for long enough; None where there is none."""

    def __init__(self, condition: Changed, before: RawFrame) -> None:
        self._condition = condition
        self._before = before
        self.due_at: float | None = None
        self.place: Region | None = None

    def saw(self, frame: RawFrame, at: float) -> None:
        """Compare with the first frame."""
        self.place = change_between(self._before, frame, self._condition)
        if self.place is None:
            self.due_at = None
        elif not is_small(self.place):
            self.due_at = at
        elif self.due_at is None:
            self.due_at = at + STAYS_SECONDS


def _judge_of(
    condition: Still | Changed, before: RawFrame, at: float
) -> _StillJudge | _ChangeJudge:
    if isinstance(condition, Changed):
        return _ChangeJudge(condition, before)
    return _StillJudge(condition, before, at)


def is_small(change: Region) -> bool:
    """Whether a change is no larger than a caret."""
    return change.width <= SMALL_WIDTH and change.height <= SMALL_HEIGHT


def change_between(one: RawFrame, other: RawFrame, where: Still | Changed) -> Region | None:
    """The smallest rectangle around all that is different, where it counts; None where nothing is.

    It is in the desktop's pixels.
    """
    if (one.region, one.size) != (other.region, other.size):
        return other.region
    if one.pixels == other.pixels:
        return None
    looked_at = (0, 0, *one.size) if where.region is None else _box_of(where.region, one)
    if looked_at[0] >= looked_at[2] or looked_at[1] >= looked_at[3]:
        return None
    difference = ImageChops.difference(
        _image_of(one).crop(looked_at), _image_of(other).crop(looked_at)
    )
    pointers = (_around_pointer(each.pointer_at) for each in (one, other) if each.pointer_at)
    for ignored in (*where.ignore, *pointers):
        left, top, right, bottom = _box_of(ignored, one)
        box = (left - looked_at[0], top - looked_at[1], right - looked_at[0], bottom - looked_at[1])
        difference.paste(0, box)
    # Of each pixel the last byte says nothing.
    found = difference.convert("RGB").getbbox()
    if found is None:
        return None
    left, top = found[0] + looked_at[0], found[1] + looked_at[1]
    return _region_of((left, top, found[2] + looked_at[0], found[3] + looked_at[1]), one)


def _around_pointer(place: Point) -> Area:
    """What a pointer covers, whose tip is mostly at its upper left."""
    return Area(
        x=place.x - POINTER_MARGIN,
        y=place.y - POINTER_MARGIN,
        width=POINTER_MARGIN + POINTER_SIDE,
        height=POINTER_MARGIN + POINTER_SIDE,
    )


def _image_of(frame: RawFrame) -> Image.Image:
    """The pixels as an image that has them without a copy; their colours are in another order."""
    return Image.frombuffer("RGBX", frame.size, frame.pixels, "raw", "RGBX", 0, 1)


def _box_of(area: Area, frame: RawFrame) -> _Box:
    """The part of a frame that shows an area; where it lies beside it, a box without pixels."""
    scale_x = frame.size.width / frame.region.width
    scale_y = frame.size.height / frame.region.height
    left, top = area.x - frame.region.x, area.y - frame.region.y
    return (
        max(0, int(left * scale_x)),
        max(0, int(top * scale_y)),
        min(frame.size.width, round((left + area.width) * scale_x)),
        min(frame.size.height, round((top + area.height) * scale_y)),
    )


def _region_of(box: _Box, frame: RawFrame) -> Region:
    scale_x = frame.region.width / frame.size.width
    scale_y = frame.region.height / frame.size.height
    left, top = int(box[0] * scale_x), int(box[1] * scale_y)
    return Region(
        frame.region.x + left,
        frame.region.y + top,
        max(1, round(box[2] * scale_x) - left),
        max(1, round(box[3] * scale_y) - top),
    )
