"""Cuts one direction of a websocket's bytes into frames, so that a proxy can see what passes.

No I/O, and just enough of RFC 6455 for that: nothing is checked, and every byte comes out again as
it came in.
"""

import json
from dataclasses import dataclass

_END_OF_HEAD = b"\r\n\r\n"
_TEXT, _BINARY = 0x1, 0x2
_CONTROL_NAMES = {0x8: "close", 0x9: "ping", 0xA: "pong"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of the stream, and what they are.

    ``name`` is the ``type`` of a JSON message, "close", "ping" or "pong", "head" for the HTTP head
    before the first frame, and empty for anything else, such as a message's first fragment.
    """

    data: bytes
    name: str


class FrameReader:
    """Takes one direction's bytes, from the connection's first, and gives them back in pieces."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._is_past_head = False
        self._message = b""

    def feed(self, data: bytes) -> list[Piece]:
        """Every piece that is complete with these bytes."""
        self._received += data
        pieces = []
        while (piece := self._next()) is not None:
            pieces.append(piece)
        return pieces

    def _next(self) -> Piece | None:
        if self._is_past_head:
            return self._frame()
        end = self._received.find(_END_OF_HEAD)
        if end < 0:
            return None
        self._is_past_head = True
        return Piece(self._take(end + len(_END_OF_HEAD)), "head")

    def _frame(self) -> Piece | None:
        received = self._received
        if len(received) < 2:
            return None
        is_final, opcode = bool(received[0] & 0x80), received[0] & 0x0F
        is_masked, length = bool(received[1] & 0x80), received[1] & 0x7F
        start = 2
        if length >= 126:
            start += 2 if length == 126 else 8
            if len(received) < start:
                return None
            length = int.from_bytes(received[2:start], "big")
        key_start, start = start, start + (4 if is_masked else 0)
        if len(received) < start + length:
            return None
        payload = bytes(received[start : start + length])
        if is_masked:
            payload = unmasked(payload, bytes(received[key_start:start]))
        return Piece(self._take(start + length), self._name(opcode, payload, is_final=is_final))

    def _name(self, opcode: int, payload: bytes, *, is_final: bool) -> str:
        if opcode in _CONTROL_NAMES:
            return _CONTROL_NAMES[opcode]
        self._message = payload if opcode in (_TEXT, _BINARY) else self._message + payload
        return _type_of(self._message) if is_final else ""

    def _take(self, count: int) -> bytes:
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


def unmasked(payload: bytes, key: bytes) -> bytes:
    """What a client's payload says; masking is its own inverse."""
    whole_key = key * (len(payload) // len(key) + 1)
    number = int.from_bytes(payload, "big") ^ int.from_bytes(whole_key[: len(payload)], "big")
    return number.to_bytes(len(payload), "big")


def _type_of(message: bytes) -> str:
    try:
        parsed = json.loads(message)
    except ValueError:
        return ""
    name = parsed.get("type") if isinstance(parsed, dict) else None
    return name if isinstance(name, str) else ""
