"""Requests written by hand, for what no HTTP library would send."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from typing import Any

from tests.service import PATIENCE_SECONDS, Service


class RawConnection:
    """A connection to the server on which anything may be said."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def say(self, *pieces: bytes) -> None:
        """Send bytes as they are."""
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], Any]:
        """The next answer: its status, its headers in lower case, and its body."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value
                for name, _, value in (line.partition(": ") for line in head[1:] if line)
            }
            content = await self._reader.readexactly(int(headers.get("content-length", 0)))
        is_json = bool(content) and "json" in headers.get("content-type", "")
        return int(head[0].split(" ")[1]), headers, json.loads(content) if is_json else content

    async def rest(self) -> bytes:
        """Everything until the server closes: that may take long, but it must not fall silent."""
        found = bytearray()
        while True:
            async with asyncio.timeout(PATIENCE_SECONDS):
                piece = await self._reader.read(65536)
            if not piece:
                return bytes(found)
            found += piece


@asynccontextmanager
async def connection(service: Service) -> AsyncIterator[RawConnection]:
    """A connection, closed at the end."""
    reader, writer = await service.open_connection()
    with closing(writer):
        yield RawConnection(reader, writer)


def head(
    service: Service, request: str, *lines: str, token: str | None = "", media: str = "json"
) -> bytes:
    """A request line and headers, with the administrator's token, another, or (None) none."""
    authorization = [] if token is None else [f"Authorization: Bearer {token or service.token}"]
    fields = ["Host: x", f"Content-Type: application/{media}", *authorization, *lines]
    return "\r\n".join([f"{request} HTTP/1.1", *fields, "", ""]).encode()


@asynccontextmanager
async def reluctant(service: Service) -> AsyncIterator[RawConnection]:
    """A connection that takes next to nothing before somebody reads."""
    host, port = service.url.removeprefix("http://").split(":")
    taking = socket.socket()
    taking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    taking.setblocking(False)
    await asyncio.get_running_loop().sock_connect(taking, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=taking, limit=4096)
    with closing(writer):
        yield RawConnection(reader, writer)


def chunks(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """A body in chunks."""
    for piece in pieces:
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    yield b"0\r\n\r\n"
