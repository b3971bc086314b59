"""A small HTTP proxy of our own, for tests: CONNECT tunnels, with a password or without."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """A running proxy: where it is, what it was asked for, what it refused."""

    credentials: str | None = None
    answer: bytes | None = None
    port: int = 0
    tunnels: list[str] = field(default_factory=list)
    refusals: int = 0

    def url(self, credentials: str | None = None) -> str:
        """The proxy's address, with a user and password if given."""
        return f"http://{f'{credentials}@' if credentials else ''}127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, from its request to the end of its tunnel."""
        with suppress(OSError, asyncio.IncompleteReadError):
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = request.split(" ", 2)
            if self.answer is not None:
                self.refusals += 1
                writer.write(self.answer)
                await writer.drain()
            elif method != "CONNECT" or not self._lets_in(request):
                self.refusals += 1
                writer.write(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                    b"Proxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
                )
                await writer.drain()
            else:
                self.tunnels.append(target)
                await self._tunnel(target, reader, writer)
        writer.close()

    def _lets_in(self, request: str) -> bool:
        if self.credentials is None:
            return True
        expected = base64.b64encode(self.credentials.encode()).decode()
        return f"proxy-authorization: basic {expected}".lower() in request.lower()

    async def _tunnel(
        self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        host, _, port = target.rpartition(":")
        upstream_reader, upstream_writer = await asyncio.open_connection(host.strip("[]"), port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with closing(upstream_writer):
            await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def http_proxy(
    credentials: str | None = None, *, answer: bytes | None = None
) -> AsyncIterator[Proxy]:
    """Run a proxy that lets in everybody, or those with ``user:password``.

    With an ``answer`` it gives that to everybody, and never makes a tunnel.
    """
    proxy = Proxy(credentials, answer)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()
