"""Pixels become pictures: scaled and encoded with Pillow, on the machine."""

import io
import math
from dataclasses import dataclass

from PIL import Image

from machine_client.desktop.base import DesktopError
from schemas.link.messages import PictureWish
from schemas.link.picture_frames import (
    MAX_PICTURE_AREA,
    MAX_PICTURE_SIDE,
    PictureFormat,
    Region,
    Size,
)

PNG_COMPRESSION = 3
"""Measured on a terminal's text: a third quicker than zlib's default, for half as much again."""


@dataclass(frozen=True, slots=True)
class Shot:
    """The pixels of a part of the desktop: rows of blue, green, red and a byte that says nothing.

    ``captured_at`` is seconds of the awake clock.
    """

    region: Region
    size: Size
    pixels: bytearray
    captured_at: float

    def looks_like(self, other: "Shot | None") -> bool:
        """Whether it shows the same; a comparison of all bytes is quicker than any hash."""
        return (
            other is not None
            and (self.region, self.size) == (other.region, other.size)
            and self.pixels == other.pixels
        )


def encode(shot: Shot, form: PictureFormat, wish: PictureWish) -> tuple[bytes, Size]:
    """A picture of a shot, no larger than wished for.  Raises DesktopError."""
    size = fitting(shot.size, wish.width, wish.height)
    try:
        image = Image.frombuffer("RGB", shot.size, shot.pixels, "raw", "BGRX", 0, 1)
        if size != shot.size:
            image = image.resize(size, Image.Resampling.BOX)
        encoded = io.BytesIO()
        if form == "png":
            image.save(encoded, "PNG", compress_level=PNG_COMPRESSION)
        else:
            image.save(encoded, "JPEG", quality=wish.quality)
    except (OSError, ValueError, MemoryError) as error:
        raise DesktopError(
            "picture_failed", f"The screen's picture cannot be encoded: {error}"
        ) from error
    return encoded.getvalue(), size


def fitting(own: Size, width: int | None, height: int | None) -> Size:
    """The largest size of the same aspect that fits, never larger than its own."""
    factor = min(
        1.0,
        min(width or own.width, MAX_PICTURE_SIDE) / own.width,
        min(height or own.height, MAX_PICTURE_SIDE) / own.height,
        math.sqrt(MAX_PICTURE_AREA / (own.width * own.height)),
    )
    return Size(max(1, int(own.width * factor)), max(1, int(own.height * factor)))
