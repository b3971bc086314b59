"""The messages of Wayland's protocol as bytes, and back; no I/O.

A message names an object, one of the requests or events of its interface by number, and has the
arguments that the interface declares.  Everything is a 32-bit word in the machine's own byte order,
or is filled up to words; file descriptors travel beside the bytes.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

HEADER_BYTES: Final = 8
MOST_MESSAGE_BYTES: Final = 0xFFFF
_WORD: Final = 4
_FIXED: Final = 256

Value = int | float | str | bytes | None
"""An argument.  Objects are their ids, 0 where there is none; descriptors are their numbers."""


class WireError(Exception):
    """What came is no message, or not one of its object."""


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an event: its name, and its arguments, each as one letter.

    ``i`` is an integer, ``u`` one without a sign, ``f`` a number with a fraction, ``s`` a text,
    ``a`` bytes, ``o`` an object, ``n`` a new object, ``h`` a file descriptor.  ``creates`` is the
    interface of the object that an event brings.
    """

    name: str
    arguments: str = ""
    creates: str = ""


@dataclass(frozen=True)
class Interface:
    """What can be asked of a kind of object, and what it tells, each in the order of its number."""

    name: str
    requests: tuple[Message, ...]
    events: tuple[Message, ...]

    @classmethod
    def declared(cls, name: str, requests: str = "", events: str = "") -> "Interface":
        """One whose messages are written as ``motion:uff frame data_offer:n=wl_data_offer``."""
        return cls(name, tuple(_declared(requests)), tuple(_declared(events)))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each request by its name."""
        return {message.name: number for number, message in enumerate(self.requests)}


def _declared(text: str) -> Iterator[Message]:
    for word in text.split():
        name, _, rest = word.partition(":")
        arguments, _, creates = rest.partition("=")
        yield Message(name, arguments, creates)


def packed(target: int, number: int, arguments: str, values: tuple[Value, ...]) -> bytes:
    """A message's bytes; its descriptors are for the caller to send.

    Raises ValueError where the values are not those that the message has.
    """
    if len(arguments) != len(values):
        raise ValueError(f"{len(arguments)} arguments were expected, {len(values)} given")
    body = b"".join(
        _PACKERS[kind](value) for kind, value in zip(arguments, values, strict=True) if kind != "h"
    )
    size = HEADER_BYTES + len(body)
    if size > MOST_MESSAGE_BYTES:
        raise ValueError(f"a message of {size} bytes is longer than Wayland has any")
    return struct.pack("=IHH", target, number, size) + body


def header(data: bytes | bytearray, start: int) -> tuple[int, int, int]:
    """The object, the number and the whole length of the message that begins there."""
    target, number, size = struct.unpack_from("=IHH", data, start)
    if size < HEADER_BYTES or size % _WORD:
        raise WireError(f"a message of {size} bytes")
    return target, number, size


def unpacked(
    arguments: str, data: bytes | bytearray, start: int, end: int, descriptor: Callable[[], int]
) -> list[Value]:
    """The arguments of an event, ``data`` from ``start`` to ``end`` being its body.

    ``descriptor`` gives the next file descriptor that came beside the bytes.
    """
    values: list[Value] = []
    for kind in arguments:
        if kind == "h":
            values.append(descriptor())
            continue
        if start + _WORD > end:
            raise WireError("an event is shorter than its arguments")
        (word,) = struct.unpack_from("=i" if kind in "if" else "=I", data, start)
        start += _WORD
        if kind not in "sa":
            values.append(word / _FIXED if kind == "f" else word)
            continue
        if start + word > end:
            raise WireError("a text is longer than its event")
        content = bytes(data[start : start + word])
        start += word + -word % _WORD
        values.append(content if kind == "a" else _text(content))
    return values


def _text(content: bytes) -> str | None:
    # Null is sent as a length of 0; every text ends with a byte 0, which counts.
    return content[:-1].decode(errors="replace") if content else None


def _pack_bytes(value: Value) -> bytes:
    content = value if isinstance(value, bytes) else b""
    return struct.pack("=I", len(content)) + content + bytes(-len(content) % _WORD)


def _pack_text(value: Value) -> bytes:
    return _pack_bytes(None if value is None else str(value).encode() + b"\0")


def _pack_fixed(value: Value) -> bytes:
    return struct.pack("=i", round(float(value or 0) * _FIXED))


def _pack_word(form: str) -> Callable[[Value], bytes]:
    return lambda value: struct.pack(form, value or 0)


_PACKERS: Final[Mapping[str, Callable[[Value], bytes]]] = {
    "i": _pack_word("=i"),
    "f": _pack_fixed,
    "s": _pack_text,
    "a": _pack_bytes,
    **dict.fromkeys("uon", _pack_word("=I")),
}
