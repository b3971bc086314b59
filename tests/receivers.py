"""Receivers of webhooks, of every kind that there is: they answer what a test says."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.waiting import WAIT_SECONDS

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
SILENCE = b""
"""Nothing is answered, and the connection stays."""


@dataclass(frozen=True)
class Received:
    """What was posted."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Listens on a port of its own; ``answer`` is what it says, ``is_endless`` for ever."""

    answer: bytes = OK
    is_endless: bool = False
    scheme: str = "http"
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = {
                name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            self.received.append(Received(first.split()[1], headers, body))
            writer.write(self.answer)
            while self.is_endless:
                writer.write(b"x" * 1000)
                await writer.drain()
            await writer.drain()
            if self.answer == SILENCE:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def get(self, count: int) -> list[Received]:
        """The first so many things that were posted, once they are here."""
        async with asyncio.timeout(WAIT_SECONDS):
            while len(self.received) < count:  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.01)
        return self.received[:count]


@asynccontextmanager
async def receiving(
    answer: bytes = OK, *, is_endless: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """A receiver that runs."""
    receiver = Receiver(answer, is_endless, "http" if tls is None else "https")
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
