"""A reader of ``GET /v1/events``, played by tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.service import PATIENCE_SECONDS, Service


@dataclass(frozen=True)
class Told:
    """One event as it came."""

    id: str
    type: str
    data: Any


class EventReader:
    """One open stream.  It asks by HTTP/1.0, so that what comes is the stream and nothing else."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.last_id = ""
        self.comments: list[str] = []
        self.head = b""

    async def block(self) -> dict[str, str]:
        """The lines up to the next empty one, by their names.  Raises EOFError at the end."""
        found: dict[str, str] = {}
        while True:
            async with asyncio.timeout(PATIENCE_SECONDS):
                line = (await self._reader.readline()).decode()
            if line == "":
                raise EOFError
            if line == "\n":
                return found
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "":
                self.comments.append(value)
            else:
                found[name] = value
            if name == "id":
                self.last_id = value

    async def next(self) -> Told:
        """The next event."""
        while True:
            found = await self.block()
            if "data" in found:
                return Told(self.last_id, found["event"], json.loads(found["data"]))

    async def until(self, condition: Callable[[Told], bool]) -> Told:
        """The first event of which the condition holds; those before are passed over."""
        while not condition(told := await self.next()):
            pass
        return told

    def pause(self) -> None:
        """Take nothing more from the network."""
        transport = self._writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()

    def abort(self) -> None:
        """Hang up at once."""
        self._writer.transport.abort()

    async def end(self) -> list[str]:
        """Read to the end of the stream; its comments."""
        try:
            while True:
                await self.next()
        except EOFError:
            return self.comments


@asynccontextmanager
async def listening(
    service: Service, query: str = "", *, last_event_id: str | None = None, token: str = ""
) -> AsyncIterator[EventReader]:
    """A stream that is open: whatever happens inside is told on it."""
    reader, writer = await service.open_connection()
    resume = "" if last_event_id is None else f"Last-Event-ID: {last_event_id}\r\n"
    writer.write(
        f"GET /v1/events{query} HTTP/1.0\r\nAuthorization: Bearer {token or service.token}\r\n"
        f"{resume}\r\n".encode()
    )
    stream = EventReader(reader, writer)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            stream.head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in stream.head, stream.head
        yield stream
    finally:
        writer.close()
        await writer.wait_closed()
