"""Pictures of a screen, and the binary frames that carry them from a machine client to a server.

A picture is cut into frames of at most `FRAME_BYTES`, so that whatever is said between them, above
all an acknowledgement, never waits for more than `WINDOW_BYTES`: so much may be on its way before
the server says with ``screen_credit`` how much has arrived.  All frames of a picture follow one
another, and each has the whole header; only its offset differs.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from schemas.values.pictures import MAX_PICTURE_SIDE, PictureFormat, Region, Size

FRAME_BYTES = 16 * 1024
WINDOW_BYTES = 64 * 1024
MAX_PICTURE_BYTES = 16 * 1024 * 1024
"""The largest picture, unless the server's ``welcome`` says otherwise."""

_HEADER = struct.Struct(">BBBxQQiiIIIIII")
_VERSION = 1
_FORMATS: tuple[PictureFormat, ...] = ("jpeg", "png", "webp")

HEADER_BYTES = _HEADER.size
MAX_FRAME_BYTES = HEADER_BYTES + FRAME_BYTES


class PictureKind(IntEnum):
    """Why a picture was taken, which says what the number in its header is."""

    LIVE = 1
    SCREENSHOT = 2
    FRAME = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a screen; ``captured_at`` is milliseconds since 1970 by the server's clock."""

    format: PictureFormat
    content: bytes
    size: Size
    region: Region
    captured_at: int


class PictureFrameError(ValueError):
    """Bytes are no frame of a picture; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class PictureHeader:
    """What a frame says of its picture.

    ``number`` is that of ``screen_start``, ``screenshot`` or ``frame_shown``; ``captured_at`` is
    milliseconds of the server's clock; ``total`` is the size of the whole picture in bytes.
    """

    kind: PictureKind
    number: int
    format: PictureFormat
    captured_at: int
    region: Region
    size: Size
    total: int

    def frame(self, offset: int, content: bytes | memoryview) -> bytes:
        """One frame with a part of the picture."""
        head = _HEADER.pack(
            _VERSION,
            self.kind,
            _FORMATS.index(self.format),
            self.number,
            self.captured_at,
            *self.region,
            *self.size,
            self.total,
            offset,
        )
        return head + content


def read_frame(frame: bytes) -> tuple[PictureHeader, int, memoryview]:
    """Take a frame apart: its picture's header, the offset and the part of the picture.

    Raises PictureFrameError.
    """
    if not HEADER_BYTES < len(frame) <= MAX_FRAME_BYTES:
        raise PictureFrameError(
            f"a binary frame has {HEADER_BYTES + 1} to {MAX_FRAME_BYTES} bytes, not {len(frame)}"
        )
    version, kind, form, number, captured_at, *numbers = _HEADER.unpack_from(frame)
    if version != _VERSION or kind not in tuple(PictureKind) or form >= len(_FORMATS):
        raise PictureFrameError(
            f"a frame of version {version}, kind {kind} and format {form} is not known"
        )
    x, y, width, height, own_width, own_height, total, offset = numbers
    for side in (width, height, own_width, own_height):
        if not 0 < side <= 4 * MAX_PICTURE_SIDE:
            raise PictureFrameError(f"a side of {side} pixels")
    header = PictureHeader(
        PictureKind(kind),
        number,
        _FORMATS[form],
        captured_at,
        Region(x, y, width, height),
        Size(own_width, own_height),
        total,
    )
    return header, offset, memoryview(frame)[HEADER_BYTES:]
