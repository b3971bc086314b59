"""Texts of a clipboard: as Latin-1, as RFC 6143 has it, and by the extension for all of Unicode.

VNC has one kind of line end: what has come, or will have been copied at the other end, has a line
feed for each.
"""

import struct
import zlib
from dataclasses import dataclass

from machine_client.desktop.vnc.rfb.parsing import ProtocolError

LATIN_1 = "latin-1"
TEXT = 1 << 0
CAPS, REQUEST, PEEK, NOTIFY, PROVIDE = (1 << place for place in range(24, 29))
ACTIONS = REQUEST | PEEK | NOTIFY | PROVIDE

MAX_TEXT_BYTES = 2 * 1024 * 1024 + 1
"""The longest that Farhand carries: of line ends alone, which are two bytes here, and an end."""
MAX_MESSAGE_BYTES = MAX_TEXT_BYTES + 64 * 1024
"""The longest message that is looked at; nothing good becomes much longer by being packed."""


class TooLongError(Exception):
    """A text that is longer than Farhand carries."""


@dataclass(frozen=True, slots=True)
class Extended:
    """A message of the extension, whatever it holds."""

    flags: int
    rest: bytes

    @property
    def has_text(self) -> bool:
        """Whether it is about a text."""
        return bool(self.flags & TEXT)


def plain_lines(text: str) -> str:
    """A text as VNC carries it: every line's end a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_extended(message: bytes) -> Extended:
    """Look into a message that the extension has packed.  Raises ProtocolError."""
    if len(message) < 4:
        raise ProtocolError("it sends a clipboard message without a beginning")
    (flags,) = struct.unpack_from(">I", message)
    return Extended(flags, message[4:])


def our_capabilities() -> bytes:
    """We know texts, and want to be asked before one is sent."""
    return struct.pack(">II", CAPS | ACTIONS | TEXT, 0)


def notify(*, has_text: bool) -> bytes:
    """Something was copied here, or nothing is any more."""
    return struct.pack(">I", NOTIFY | (TEXT if has_text else 0))


def request() -> bytes:
    """The other end's text is wanted."""
    return struct.pack(">I", REQUEST | TEXT)


def provide(text: str) -> bytes:
    """The text that was asked for."""
    data = plain_lines(text).replace("\n", "\r\n").encode() + b"\0"
    return struct.pack(">I", PROVIDE | TEXT) + zlib.compress(struct.pack(">I", len(data)) + data)


def unpacked(rest: bytes) -> bytes:
    """What `text_of` reads, of what was provided.  Raises TooLongError and ProtocolError.

    Not a byte more is unpacked than a text may have, whatever the message would become.
    """
    unpacking = zlib.decompressobj()
    try:
        head = unpacking.decompress(rest, 4)
        if len(head) < 4:
            raise ProtocolError("it provides a clipboard without a length")
        (length,) = struct.unpack(">I", head)
        if length > MAX_TEXT_BYTES:
            raise TooLongError
        data = unpacking.decompress(unpacking.unconsumed_tail, length) if length else b""
    except zlib.error:
        raise ProtocolError("it provides a clipboard that cannot be unpacked") from None
    if len(data) < length:
        raise ProtocolError("it provides a clipboard that is shorter than it says")
    return data


def text_of(data: bytes) -> str:
    """The text in what was unpacked."""
    return plain_lines(data.partition(b"\0")[0].decode("utf-8", "replace"))
