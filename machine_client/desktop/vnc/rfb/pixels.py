"""Rectangles of pixels in the encodings that we ask for, read row by row or tile by tile."""

import struct
import zlib
from collections.abc import Generator

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb.canvas import PIXEL_BYTES, Canvas, check_within
from machine_client.desktop.vnc.rfb.parsing import ProtocolError, Skip, Step

BAND_BYTES = 256 * 1024
"""About so much of a raw rectangle is waited for at a time, and painted."""

Steps = Generator[Step, bytes, None]
Rectangle = tuple[int, int, int, int]
"""Left, top, width and height."""


class PixelReader:
    """Reads pixels; one for each connection, as packed ones are one stream from first to last.

    Without a canvas they are read, and forgotten.
    """

    def __init__(self) -> None:
        self._unpacking = zlib.decompressobj()

    def read(self, encoding: int, rectangle: Rectangle, canvas: Canvas | None) -> Steps:
        """One rectangle, which lies on the screen."""
        if encoding == ours.RAW:
            yield from _raw(rectangle, canvas)
        elif encoding == ours.COPY_RECT:
            yield from _copied(rectangle, canvas)
        elif encoding == ours.ZLIB:
            yield from self._packed(rectangle, canvas)
        else:
            raise ProtocolError(f"it paints in the encoding {encoding}, which was not asked for")

    def _packed(self, rectangle: Rectangle, canvas: Canvas | None) -> Steps:
        x, y, width, height = rectangle
        size = PIXEL_BYTES * width * height
        (length,) = struct.unpack(">I", (yield 4))
        # What cannot be packed grows by some bytes in a thousand.
        if length > size + size // 100 + 1024:
            raise ProtocolError(f"it sends {length} bytes for {width} x {height} pixels")
        packed = yield length
        try:
            # One byte more than there should be, and no bomb's worth.
            pixels = self._unpacking.decompress(packed, size + 1)
        except zlib.error:
            raise ProtocolError("it sends pixels that cannot be unpacked") from None
        if len(pixels) != size or self._unpacking.unconsumed_tail:
            raise ProtocolError(f"what it packs are not {width} x {height} pixels")
        if canvas is not None:
            canvas.paint(x, y, width, pixels)


def _raw(rectangle: Rectangle, canvas: Canvas | None) -> Steps:
    x, y, width, height = rectangle
    row_bytes = PIXEL_BYTES * width
    if canvas is None:
        yield Skip(row_bytes * height)
        return
    band = max(1, BAND_BYTES // max(1, row_bytes))
    for top in range(y, y + height, band):
        rows = min(band, y + height - top)
        canvas.paint(x, top, width, (yield row_bytes * rows))


def _copied(rectangle: Rectangle, canvas: Canvas | None) -> Steps:
    x, y, width, height = rectangle
    from_x, from_y = struct.unpack(">HH", (yield 4))
    if canvas is not None:
        check_within((canvas.width, canvas.height), from_x, from_y, width, height)
        canvas.copy(from_x, from_y, x, y, width, height)
