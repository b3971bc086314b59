"""Questions and answers on the pipes between the server and a process that looks.

Each is its head, which is JSON, and a picture behind it that may be empty; before them are the
lengths of both.
"""

import struct
from typing import Final

LENGTHS: Final = struct.Struct(">II")

MAX_HEAD_BYTES: Final = 8 * 1024 * 1024
MAX_PICTURE_BYTES: Final = 256 * 1024 * 1024


class BrokenPipeFormatError(Exception):
    """What came is no question and no answer."""


def packed(head: bytes, picture: bytes = b"") -> bytes:
    """What is written for it."""
    return LENGTHS.pack(len(head), len(picture)) + head + picture


def lengths(beginning: bytes) -> tuple[int, int]:
    """How long head and picture are.  Raises BrokenPipeFormatError."""
    head, picture = LENGTHS.unpack(beginning)
    if head > MAX_HEAD_BYTES or picture > MAX_PICTURE_BYTES:
        raise BrokenPipeFormatError(f"{head} and {picture} bytes")
    return head, picture
