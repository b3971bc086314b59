"""Replies that are longer than NATS takes at once: their pieces, and the header of each."""

import re
from collections.abc import Iterator
from typing import Final

PIECE_BYTES: Final = 512 * 1024
"""How long a piece is at most, so that others' messages come through between them."""

MAX_HEADER_BYTES: Final = 64
"""A header is never longer."""

_HEADER: Final = re.compile(
    rb"NATS/1\.0\r\nFarhand-Piece: ([1-9][0-9]{0,4})/([1-9][0-9]{0,4})\r\n\r\n"
)


def pieces_of(message: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """The header and the bytes of each piece, in order."""
    view = memoryview(message)
    count = -(-len(message) // PIECE_BYTES)
    for number in range(1, count + 1):
        piece = view[(number - 1) * PIECE_BYTES : number * PIECE_BYTES]
        yield b"NATS/1.0\r\nFarhand-Piece: %d/%d\r\n\r\n" % (number, count), piece


def place_of(header: bytes) -> tuple[int, int] | None:
    """The number of a piece, from 1 on, and how many there are; None where it says neither."""
    found = _HEADER.fullmatch(header)
    return None if found is None else (int(found[1]), int(found[2]))
