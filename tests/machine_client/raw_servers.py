"""Small servers that are no Farhand's, as they stand between a desktop and its server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


def http_answer(status: str, body: str = "", **headers: str) -> bytes:
    """A whole HTTP answer, such as one of ``403 Forbidden``."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", body]).encode()


@asynccontextmanager
async def raw_server(answer: bytes | None) -> AsyncIterator[int]:
    """Listen on a port; whoever sends a whole head of a request gets the answer, or none at all."""

    serving: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # As web servers do: what is no request yet, such as a hello of TLS, is waited with.
            await reader.readuntil(b"\r\n\r\n")
            if answer is None:
                await reader.read()
            else:
                writer.write(answer)
                await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*(task for task in serving if task is not None))
