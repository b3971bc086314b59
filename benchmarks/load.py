"""Asks over HTTP with as little of its own in the way as Python allows."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlsplit

_numbers = count()


@dataclass(frozen=True)
class Request:
    """A request that is sent again and again; ``keyed`` gives each a key of its own.

    ``headers`` are lines of their own, each with its end.
    """

    url: str
    body: bytes
    token: str = ""
    keyed: bool = False
    method: str = "POST"
    headers: str = ""
    check: Callable[[bytes], bool] = lambda head: b" 200 " in head

    def encoded(self) -> bytes:
        """The next request's bytes."""
        parts = urlsplit(self.url)
        target = parts._replace(scheme="", netloc="").geturl()
        key = f"Idempotency-Key: bench-{time.time_ns()}-{next(_numbers)}\r\n" if self.keyed else ""
        head = (
            f"{self.method} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Content-Type: application/json\r\nAuthorization: Bearer {self.token}\r\n"
            f"{key}{self.headers}Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


@dataclass(frozen=True)
class Measured:
    """How long each request took, in seconds, and how many were answered in one second."""

    seconds: list[float]
    rate: float


async def ask_alone(request: Request, times: int) -> Measured:
    """Ask one after another on one connection."""
    return await ask_together(request, times, 1)


async def ask_together(request: Request, times: int, connections: int) -> Measured:
    """Ask on so many connections at once, ``times`` in all."""
    seconds: list[float] = []
    left = iter(range(times))

    async def asker() -> None:
        parts = urlsplit(request.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in left:
            content = request.encoded()
            started = time.perf_counter()
            writer.write(content)
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            body = await reader.readexactly(int(length or 0))
            seconds.append(time.perf_counter() - started)
            if not request.check(head):
                raise RuntimeError(f"asked {request.url} and got {head!r} {body!r}")
        writer.close()
        await writer.wait_closed()

    started = time.perf_counter()
    await asyncio.gather(*(asker() for _ in range(connections)))
    return Measured(seconds, times / (time.perf_counter() - started))
