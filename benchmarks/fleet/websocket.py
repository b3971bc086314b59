"""A websocket client that is as light as it can be: thousands of them fit into one process.

It knows what a server of ours sends: whole text frames, pings and closes, none of them masked.
"""

import asyncio
import base64
import struct
from typing import Final, cast

_TEXT, _CLOSE, _PONG = 0x1, 0x8, 0xA
_FINAL, _MASKED, _MASK = 0x80, 0x80, bytes(4)
"""A mask of zeros leaves everything as it is, and is as good as any for whom nothing attacks."""

_KEY: Final = base64.b64encode(bytes(16)).decode()


class ProtocolError(Exception):
    """The server said what this client does not know."""


class WebSocketClient(asyncio.Protocol):
    """One websocket; what comes on it is given to the methods that begin with ``on_``."""

    __slots__ = ("_buffer", "_is_open", "_transport", "close_code", "close_reason")

    def __init__(self) -> None:
        self._buffer = b""
        self._is_open = False
        self._transport: asyncio.Transport | None = None
        self.close_code: int | None = None
        self.close_reason = ""

    def request(self) -> str:
        """The request's first line and the headers that are this client's own."""
        raise NotImplementedError

    def on_open(self) -> None:
        """The server has shaken hands."""

    def on_text(self, text: bytes) -> None:
        """A message has come."""

    def on_end(self) -> None:
        """The connection has ended, or never became a websocket."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a websocket."""
        # uvloop's own are none of asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(
            f"{self.request()}Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {_KEY}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Take the answer to the request, and frames after it."""
        self._buffer = self._buffer + data if self._buffer else data
        if not self._is_open:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101 "):
                self.close()
                return
            self._buffer, self._is_open = rest, True
            self.on_open()
        while self._buffer and self._take_frame():
            pass

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that it is over."""
        self._buffer, self._transport = b"", None
        self.on_end()

    def send_text(self, text: bytes) -> None:
        """Send a message."""
        self._send(_TEXT, text)

    def close(self) -> None:
        """End the connection without a word."""
        if self._transport is not None:
            self._transport.close()

    def _take_frame(self) -> bool:
        """Take one frame out of the buffer; False where it is not whole yet."""
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        length, start = buffer[1], 2
        if length == 126 and len(buffer) >= 4:
            (length,), start = struct.unpack_from(">H", buffer, 2), 4
        elif length >= 126:
            if length == 126:
                return False
            raise ProtocolError("a frame is masked, or longer than any that a machine is sent")
        end = start + length
        if len(buffer) < end:
            return False
        self._buffer = buffer[end:]
        self._frame(buffer[0], buffer[start:end])
        return True

    def _frame(self, first: int, payload: bytes) -> None:
        match first ^ _FINAL:
            case 0x1:
                self.on_text(payload)
            case 0x8:
                if len(payload) >= 2:
                    self.close_code = int.from_bytes(payload[:2], "big")
                    self.close_reason = payload[2:].decode()
                self._send(_CLOSE, payload[:2])
                self.close()
            case 0x9:
                self._send(_PONG, payload)
            case 0xA:
                pass
            case _:
                raise ProtocolError(f"a frame that begins with {first:#x}")

    def _send(self, opcode: int, payload: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if len(payload) < 126:
            head = bytes((_FINAL | opcode, _MASKED | len(payload)))
        else:
            head = struct.pack(">BBH", _FINAL | opcode, _MASKED | 126, len(payload))
        self._transport.write(head + _MASK + payload)
