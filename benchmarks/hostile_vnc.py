"""VNC servers that let everybody in, and then say the same as fast as it is taken."""

import asyncio
import struct
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb import clipboard
from server.tasks import Tasks

AT_ONCE_BYTES: Final = 64 * 1024

_PIXEL_FORMAT: Final = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
_SMALL: Final = (1280, 800)
_LARGE: Final = (3840, 2160)


@dataclass(frozen=True)
class Flood:
    """What is said again and again, on a screen of this size."""

    said: bytes
    size: tuple[int, int] = _SMALL


def _rectangle(width: int, height: int, encoding: int, content: bytes = b"") -> bytes:
    return struct.pack(">BxHHHHHi", 0, 1, 0, 0, width, height, encoding) + content


def _bomb(data: bytes) -> bytes:
    head = struct.pack(">I", clipboard.PROVIDE | clipboard.TEXT)
    packed = head + zlib.compress(struct.pack(">I", len(data)) + data, 9)
    return struct.pack(">Bxxxi", 3, -len(packed)) + packed


FLOODS: Final[Mapping[str, Flood]] = {
    "bells": Flood(b"\x02"),
    "answers to fences that nobody sent": Flood(struct.pack(">BxxxIB", 248, 0, 8) + bytes(8)),
    "fences that ask": Flood(struct.pack(">BxxxIB", 248, ours.FENCE_REQUEST, 8) + bytes(8)),
    "texts of 2 KB that become 2 MiB": Flood(_bomb(b"\n" * 2**21)),
    "sizes": Flood(_rectangle(*_LARGE, ours.DESKTOP_SIZE) + _rectangle(*_SMALL, ours.DESKTOP_SIZE)),
    "the whole screen, copied": Flood(_rectangle(*_LARGE, ours.COPY_RECT, bytes(4)), _LARGE),
    "a pixel, painted": Flood(_rectangle(1, 1, ours.RAW, bytes(4))),
    "a column, painted": Flood(_rectangle(1, 800, ours.RAW, bytes(3200))),
}


@asynccontextmanager
async def flooding_server(flood: Flood) -> AsyncIterator[tuple[int, list[float]]]:
    """A server's port, and after how many seconds each of its clients left it."""
    left_after: list[float] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await _let_in(reader, writer, flood.size)
            begun_at = time.monotonic()
            try:
                await _say(reader, writer, flood.said)
            finally:
                left_after.append(time.monotonic() - begun_at)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], left_after


async def _let_in(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: tuple[int, int]
) -> None:
    writer.write(b"RFB 003.008\n")
    await reader.readexactly(12)
    writer.write(b"\x01\x01")
    await reader.readexactly(1)
    writer.write(bytes(4))
    await reader.readexactly(1)
    name = b"a flood"
    writer.write(struct.pack(">HH", *size) + _PIXEL_FORMAT + struct.pack(">I", len(name)) + name)


async def _say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, said: bytes) -> None:
    at_once = said * max(1, AT_ONCE_BYTES // len(said))

    async def hear() -> None:
        while await reader.read(AT_ONCE_BYTES):
            pass

    tasks = Tasks()
    hearing = tasks.start(hear(), "hear a client")
    try:
        while not hearing.done():
            writer.write(at_once)
            await writer.drain()
            await asyncio.sleep(0)
    finally:
        await tasks.close(0)
