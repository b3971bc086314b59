"""Several screens' pictures as one: turned upright, brought to one scale, put in their places."""

import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from machine_client.desktop.base import DesktopError
from schemas.values.pictures import Region, Size

_PIXEL: Final = 4

_BLUE_FIRST: Final = frozenset({0, 1, 0x34325241, 0x34325258})
"""The numbers of formats whose bytes are blue, green, red: ARGB8888 and XRGB8888, twice each."""
_RED_FIRST: Final = frozenset({0x34324241, 0x34324258})
"""ABGR8888 and XBGR8888."""

KNOWN_FORMATS: Final = _BLUE_FIRST | _RED_FIRST

_MIRRORED, _QUARTER = 4, 1
"""Bits of a transform: mirrored first, then turned by so many quarters."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One screen as it was lit: rows of pixels, and how they are turned to be looked at."""

    pixels: bytearray
    size: Size
    transform: int
    region: Region


def blue_first(pixels: bytearray, form: int) -> bytearray:
    """Pixels of a format as blue, green, red and one more byte.  Raises DesktopError."""
    if form in _BLUE_FIRST:
        return pixels
    if form not in _RED_FIRST:
        raise DesktopError(
            "screen_unavailable",
            f"The Wayland compositor gives pictures in a format unknown here, {form:#x}",
        )
    pixels[0::_PIXEL], pixels[2::_PIXEL] = pixels[2::_PIXEL], pixels[0::_PIXEL]
    return pixels


def upright(picture: Picture) -> tuple[bytearray, Size]:
    """A picture as it is looked at, and its size then."""
    width, height = picture.size.width, picture.size.height
    if not picture.transform:
        return picture.pixels, picture.size
    words = array.array("I", bytes(picture.pixels))
    rows: list[Sequence[int]] = [words[row * width : (row + 1) * width] for row in range(height)]
    turns, is_mirrored = picture.transform % 4, bool(picture.transform & _MIRRORED)
    if is_mirrored:
        rows = [row[::-1] for row in rows]
    if turns & _QUARTER:
        rows = [array.array("I", column) for column in zip(*rows, strict=True)]
        # Columns from left to right are the picture mirrored and turned; a screen that was turned
        # to the left is turned back to the right, and a mirrored one the other way.
        to_the_right = (turns == 1) != is_mirrored
        rows = [row[::-1] for row in rows] if to_the_right else rows[::-1]
        width, height = height, width
    elif turns:
        rows = [row[::-1] for row in reversed(rows)]
    return bytearray(b"".join(bytes(array.array("I", row)) for row in rows)), Size(width, height)


def put_together(pictures: Sequence[Picture], around: Region) -> tuple[bytearray, Size]:
    """All pictures as one of what is ``around`` them, at the finest of their scales.

    What no screen shows is black.
    """
    shown = [(upright(picture), picture.region) for picture in pictures]
    if len(shown) == 1:
        return shown[0][0]
    scale = max(size.width / region.width for (_, size), region in shown)
    whole = Size(round(around.width * scale), round(around.height * scale))
    canvas = bytearray(whole.width * whole.height * _PIXEL)
    for (pixels, size), region in shown:
        left, top = round((region.x - around.x) * scale), round((region.y - around.y) * scale)
        into = Size(
            min(round(region.width * scale), whole.width - left),
            min(round(region.height * scale), whole.height - top),
        )
        _draw(canvas, whole.width, (left, top), _scaled_rows(pixels, size, into))
    return canvas, whole


def _draw(
    canvas: bytearray, width: int, place: tuple[int, int], rows: Sequence[bytes | memoryview]
) -> None:
    left, top = place
    for number, row in enumerate(rows, top):
        start = (number * width + left) * _PIXEL
        canvas[start : start + len(row)] = row


def _scaled_rows(pixels: bytearray, size: Size, into: Size) -> Sequence[bytes | memoryview]:
    """The rows of a picture as one of another size: of each pixel the nearest one."""
    view = memoryview(pixels)
    length = size.width * _PIXEL
    rows = [view[row * length : (row + 1) * length] for row in range(size.height)]
    if size == into:
        return rows
    # Of each new pixel's middle; neither is ever as narrow as one.
    pick = itemgetter(*((2 * x + 1) * size.width // (2 * into.width) for x in range(into.width)))
    widened = [array.array("I", pick(row.cast("I"))).tobytes() for row in rows]
    return [widened[(2 * y + 1) * size.height // (2 * into.height)] for y in range(into.height)]
