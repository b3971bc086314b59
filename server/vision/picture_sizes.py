"""How large a picture says it is, without unpacking it."""

import struct
from typing import Final

from schemas.resources.stored_pictures import media_type_of

_PNG_HEAD: Final = struct.Struct(">8xI4sII")
_JPEG_FRAMES: Final = frozenset((0xC0, 0xC1, 0xC2))
_MOST_SEGMENTS: Final = 200


class NoPictureError(ValueError):
    """Bytes do not say how large a picture they are."""


def size_of(picture: bytes) -> tuple[int, int]:
    """Its width and height in pixels.  Raises NoPictureError."""
    try:
        match media_type_of(picture):
            case "image/png":
                return _png_size(picture)
            case "image/jpeg":
                return _jpeg_size(picture)
            case _:
                raise NoPictureError("it does not begin like one")
    except struct.error:
        raise NoPictureError("it breaks off") from None


def _png_size(picture: bytes) -> tuple[int, int]:
    _, kind, width, height = _PNG_HEAD.unpack_from(picture)
    if kind != b"IHDR" or not (width and height):
        raise NoPictureError("it does not say how large it is")
    return width, height


def _jpeg_size(picture: bytes) -> tuple[int, int]:
    position = 2
    for _ in range(_MOST_SEGMENTS):
        start, marker, length = struct.unpack_from(">BBH", picture, position)
        if start != 0xFF or length < 2:
            break
        if marker in _JPEG_FRAMES:
            _, height, width = struct.unpack_from(">BHH", picture, position + 4)
            if width and height:
                return width, height
            break
        position += 2 + length
    raise NoPictureError("it does not say how large it is")
