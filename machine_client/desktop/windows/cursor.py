"""Draws the pointer into a picture: Windows keeps it out of what programs copy from the screen."""

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from machine_client.desktop.windows import api
from schemas.values.pictures import Region

_SHOWING: Final = 1  # CURSOR_SHOWING
_NORMAL: Final = 3  # DI_NORMAL
_ARROW: Final = 32512  # IDC_ARROW
_LARGEST: Final = 512


@dataclass(frozen=True, slots=True)
class _Cursor:
    handle: int
    place: Region


def draw_pointer(pixels: bytearray, region: Region) -> None:
    """Draw it where it is, if it shows; where it cannot be drawn, the picture stays as it is."""
    cursor = _cursor()
    if cursor is None:
        return
    left, top = cursor.place.x - region.x, cursor.place.y - region.y
    width, height = cursor.place.width, cursor.place.height
    with _canvas(width, height) as (context, canvas):
        rows = _rows(left, top, width, height, region)
        for here, there, length in rows:
            canvas[here : here + length] = pixels[there : there + length]
        if api.draw_icon(context, 0, 0, cursor.handle, width, height, 0, None, _NORMAL):
            api.gdi_flush()
            for here, there, length in rows:
                pixels[there : there + length] = canvas[here : here + length]


def _rows(
    left: int, top: int, width: int, height: int, region: Region
) -> list[tuple[int, int, int]]:
    """Where each row of a cursor is in its own picture and in the other, as far as it is in both.

    In bytes: the place here, the place there, the length.
    """
    first, last = max(0, -left), min(width, region.width - left)
    if first >= last:
        return []
    return [
        (
            (row * width + first) * 4,
            ((top + row) * region.width + left + first) * 4,
            (last - first) * 4,
        )
        for row in range(max(0, -top), min(height, region.height - top))
    ]


def _cursor() -> _Cursor | None:
    info = api.CursorInfo(size=ctypes.sizeof(api.CursorInfo))
    if not api.get_cursor_info(ctypes.byref(info)) or not info.flags & _SHOWING or not info.cursor:
        return None
    # Another program's may be gone by now, or be nobody else's to draw, as under Wine.
    return _cursor_at(info.cursor, info.place.x, info.place.y) or _cursor_at(
        api.load_cursor(None, _ARROW), info.place.x, info.place.y
    )


def _cursor_at(handle: int, x: int, y: int) -> _Cursor | None:
    icon = api.IconInfo()
    if not api.get_icon_info(handle, ctypes.byref(icon)):
        return None
    try:
        bitmap = api.Bitmap()
        source = icon.colour or icon.mask
        if not api.get_object(source, ctypes.sizeof(bitmap), ctypes.byref(bitmap)):
            return None
    finally:
        for each in (icon.mask, icon.colour):
            if each:
                api.delete_object(each)
    # One without colours is two masks, one above the other.
    height = bitmap.height if icon.colour else bitmap.height // 2
    if not (0 < bitmap.width <= _LARGEST and 0 < height <= _LARGEST):
        return None
    place = Region(x - icon.hotspot_x, y - icon.hotspot_y, bitmap.width, height)
    return _Cursor(handle, place)


@contextlib.contextmanager
def _canvas(width: int, height: int) -> Iterator[tuple[int, Any]]:
    """A picture of 32 bits, rows from the top, that can be drawn on and read as bytes."""
    header = api.BitmapInfo(
        size=ctypes.sizeof(api.BitmapInfo), width=width, height=-height, planes=1, bits=32
    )
    context = api.create_compatible_dc(None)
    pixels = ctypes.c_void_p()
    bitmap = api.create_dib_section(context, ctypes.byref(header), 0, ctypes.byref(pixels), None, 0)
    if not bitmap or not pixels.value:
        api.delete_dc(context)
        raise OSError("Windows makes no picture for the pointer")
    before = api.select_object(context, bitmap)
    try:
        memory = (ctypes.c_ubyte * (width * height * 4)).from_address(pixels.value)
        yield context, memoryview(memory).cast("B")
    finally:
        api.select_object(context, before)
        api.delete_object(bitmap)
        api.delete_dc(context)
