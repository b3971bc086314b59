"""Pictures as they come from machines: put together from frames, and checked without decoding.

A machine may be hostile, and what it sends goes to people's browsers.  So only the plainest form
of each format passes: the parts that a picture needs, in their order, and nothing that could turn
it, describe it, or unpack to more than the size that was declared.
"""

import re
import struct
from collections.abc import Callable

from schemas.link.picture_frames import PictureFrameError, PictureHeader, read_frame
from schemas.values.pictures import MAX_PICTURE_AREA, MAX_PICTURE_SIDE, PictureFormat, Size

_MAX_SEGMENTS = 64
_MAX_SMALL_CHUNKS = 64
_CHUNK_BYTES = 1024
"""A PNG may have so many chunks, and one more for so many bytes: encoders make them larger."""
_MARKER_SHARE = 8
"""At most every eighth byte of a JPEG's scan begins what could be a marker: it is one of 256."""
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
_JPEG_START, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
_JPEG_FRAME, _JPEG_SCAN = 0xC0, 0xDA
_JPEG_SEGMENTS = {0xE0, 0xDB, 0xC4, 0xDD, _JPEG_FRAME}
"""JFIF's own head, tables and the frame: no EXIF, whose orientation would turn the picture."""
_WEBP_HEAD = struct.Struct("<4sI4s4sI3s3sHH")
_WEBP_SIDE = (1 << 14) - 1
"""The bits of a side; the two above them would have it enlarged."""
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")


class PictureError(ValueError):
    """What was sent is no picture that can be taken; ``str()`` says why."""


class PictureAssembly:
    """Puts one picture after another together, none larger than ``largest`` bytes."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._header: PictureHeader | None = None
        self._content = bytearray()

    def add(self, frame: bytes) -> tuple[PictureHeader, int, bytes | None]:
        """Take a frame; its header, how many bytes it brought, and the picture once it is whole.

        Raises PictureError.
        """
        try:
            header, offset, part = read_frame(frame)
        except PictureFrameError as error:
            raise PictureError(str(error)) from None
        if self._header is None:
            self._check_header(header)
            self._header = header
        if header != self._header or offset != len(self._content):
            raise PictureError("a frame does not continue the picture before it")
        if offset + len(part) > header.total:
            raise PictureError(f"a picture is longer than its {header.total} bytes")
        self._content += part
        if len(self._content) < header.total:
            return header, len(part), None
        whole = bytes(self._content)
        self._header, self._content = None, bytearray()
        check_picture(header.format, header.size, whole)
        return header, len(part), whole

    def _check_header(self, header: PictureHeader) -> None:
        if not 0 < header.total <= self._largest:
            raise PictureError(
                f"a picture of {header.total} bytes: it may have {self._largest} at most"
            )
        width, height = header.size
        if max(width, height) > MAX_PICTURE_SIDE or width * height > MAX_PICTURE_AREA:
            raise PictureError(f"a picture of {width} x {height} pixels is too large")


def check_picture(form: PictureFormat, size: Size, content: bytes) -> None:
    """Raise PictureError unless bytes are a plain picture of this format and size."""
    try:
        found = _SIZES[form](content)
    except (struct.error, IndexError):
        raise PictureError(f"a {form} picture that breaks off") from None
    if found != size:
        raise PictureError(
            f"a {form} picture of {found.width} x {found.height} pixels was declared as "
            f"{size.width} x {size.height}"
        )


def _png_size(content: bytes) -> Size:
    if not content.startswith(_PNG_SIGNATURE):
        raise PictureError("not a PNG picture")
    position, size, kind = len(_PNG_SIGNATURE), Size(0, 0), b""
    chunks = _MAX_SMALL_CHUNKS + len(content) // _CHUNK_BYTES
    while kind != b"IEND":
        chunks -= 1
        if chunks < 0:
            raise PictureError("a PNG picture of too many parts")
        length, kind = struct.unpack_from(">I4s", content, position)
        if kind not in _PNG_CHUNKS or (kind == b"IHDR") != (size == (0, 0)):
            raise PictureError("a PNG picture with a part that it does not need")
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack_from(
                ">IIBBBBB", content, position + 8
            )
            if length != 13 or depth != 8 or colour not in (0, 2) or interlaced:
                raise PictureError("a PNG picture that is not plain grey or RGB")
            size = Size(width, height)
        position += 12 + length
    if position != len(content):
        raise PictureError("a PNG picture with something after its end")
    return size


def _jpeg_size(content: bytes) -> Size:
    if not (content.startswith(_JPEG_START) and content.endswith(_JPEG_END)):
        raise PictureError("not a JPEG picture")
    position, size = 2, Size(0, 0)
    for _ in range(_MAX_SEGMENTS):
        start, marker, length = struct.unpack_from(">BBH", content, position)
        if start != 0xFF or length < 2:
            raise PictureError("not a JPEG picture")
        if marker == _JPEG_SCAN:
            break
        if marker not in _JPEG_SEGMENTS or (marker == _JPEG_FRAME and size != (0, 0)):
            raise PictureError("a JPEG picture with a part that it does not need")
        if marker == _JPEG_FRAME:
            depth, height, width, components = struct.unpack_from(">BHHB", content, position + 4)
            if depth != 8 or components not in (1, 3):
                raise PictureError("a JPEG picture that is not plain grey or colour")
            size = Size(width, height)
        position += 2 + length
    else:
        raise PictureError("a JPEG picture of too many parts")
    if content.count(b"\xff", position) > _MAX_SEGMENTS + len(content) // _MARKER_SHARE:
        raise PictureError("a JPEG picture of too many markers")
    # One scan, and nothing after it: further ones cost whoever decodes them, not who sends them.
    after = _JPEG_MARKER.search(content, position + 2 + length)
    if after is None or after.end() != len(content):
        raise PictureError("a JPEG picture with something after its scan")
    return size


def _webp_size(content: bytes) -> Size:
    """Of the simple lossy form: one key frame, and nothing around it (RFC 9649 and RFC 6386)."""
    riff, length, webp, kind, size, tag, start, width, height = _WEBP_HEAD.unpack_from(content)
    if (riff, webp, kind, start) != (b"RIFF", b"WEBP", b"VP8 ", b"\x9d\x01\x2a"):
        raise PictureError("not a plain WebP picture")
    if length != len(content) - 8 or size + size % 2 != length - 12:
        raise PictureError("a WebP picture of another length than it says")
    if tag[0] & 1 or max(width, height) > _WEBP_SIDE:
        raise PictureError("a WebP picture that is no key frame, or would be enlarged")
    return Size(width, height)


_SIZES: dict[PictureFormat, Callable[[bytes], Size]] = {
    "png": _png_size,
    "jpeg": _jpeg_size,
    "webp": _webp_size,
}
