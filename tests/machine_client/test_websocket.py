"""The connection without a task between, against a real websocket server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from machine_client.websocket import DirectConnection
from tests.machine_client.scripted import WAIT_SECONDS
from tests.store import async_test


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[DirectConnection, ServerConnection]]:
    """Both ends of a websocket."""
    ends: asyncio.Queue[ServerConnection] = asyncio.Queue()

    async def handle(end: ServerConnection) -> None:
        ends.put_nowait(end)
        await end.wait_closed()

    async with serve(handle, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}", create_connection=DirectConnection) as here:
            yield cast("DirectConnection", here), await ends.get()


@async_test
async def test_whole_text_messages_are_delivered_in_order() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        delivered: list[bytes] = []
        here.deliver = delivered.append
        for text in ("one", "zwei €", ""):
            await there.send(text)
        await (await there.ping())
        assert delivered == [b"one", "zwei €".encode(), b""]


@async_test
async def test_what_is_not_delivered_can_be_received() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        await there.send("before")
        assert await here.recv() == "before"
        delivered: list[bytes] = []
        here.deliver = delivered.append
        await there.send(["in ", "pieces"])
        await there.send(b"binary")
        assert [await here.recv(), await here.recv()] == ["in pieces", b"binary"]
        assert delivered == []


@async_test
async def test_written_text_arrives_and_a_closed_connection_takes_none() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        assert here.write("größer") == 0
        assert await there.recv() == "größer"
        await here.close()
        assert here.write("late") == 0
    assert there.close_code == 1000


@async_test
async def test_what_the_network_does_not_take_is_counted() -> None:
    async with connected() as (here, _):
        # Nobody reads at the other end, and what the kernel keeps is some megabytes.
        waiting = [here.write("x" * 1_000_000) for _ in range(50)]
        here.transport.abort()
        assert waiting == sorted(waiting)
        assert waiting[-1] > 1_000_000


@async_test
async def test_written_bytes_arrive_as_a_binary_message() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        assert here.write_bytes(b"\x00\xff") == 0
        assert await there.recv() == b"\x00\xff"
        await here.close()
        assert here.write_bytes(b"late") == 0
