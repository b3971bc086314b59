"""The connection without a task between, against a real websocket server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from machine_client.link import websocket
from machine_client.link.failures import MisconfiguredError
from machine_client.link.websocket import DirectConnection, open_websocket, proxy_for, tls_context
from machine_client.settings import MachineSettings
from schemas.link.messages import SUBPROTOCOL
from tests.certificates import self_signed
from tests.machine_client.scripted import WAIT_SECONDS


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[DirectConnection, ServerConnection]]:
    """Both ends of a websocket."""
    ends: asyncio.Queue[ServerConnection] = asyncio.Queue()

    async def handle(end: ServerConnection) -> None:
        ends.put_nowait(end)
        await end.wait_closed()

    async with serve(
        handle, "127.0.0.1", 0, compression=None, subprotocols=[Subprotocol(SUBPROTOCOL)]
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with await open_websocket(settings(f"http://127.0.0.1:{port}"), {}, None) as here:
            yield here, await ends.get()


def settings(server: str, **more: Any) -> MachineSettings:
    return MachineSettings(server=server, token=SecretStr("t"), **more)


async def test_whole_text_messages_are_delivered_in_order() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        delivered: list[bytes] = []
        here.deliver = delivered.append
        for text in ("one", "zwei €", ""):
            await there.send(text)
        await (await there.ping())
        assert delivered == [b"one", "zwei €".encode(), b""]


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


async def test_written_text_arrives_and_a_closed_connection_takes_none() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        assert here.write("größer") == 0
        assert await there.recv() == "größer"
        await here.close()
        assert here.write("late") == 0
    assert there.close_code == 1000


async def test_what_the_network_does_not_take_is_counted() -> None:
    async with connected() as (here, _):
        # Nobody reads at the other end, and what the kernel keeps is some megabytes.
        waiting = [here.write("x" * 1_000_000) for _ in range(50)]
        here.transport.abort()
        assert waiting == sorted(waiting)
        assert waiting[-1] > 1_000_000


async def test_written_bytes_arrive_as_a_binary_message() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        assert here.write_bytes(b"\x00\xff") == 0
        assert await there.recv() == b"\x00\xff"
        await here.close()
        assert here.write_bytes(b"late") == 0


async def test_who_closes_it_first_is_known() -> None:
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        assert not here.was_closed_by_other_side
        await there.close(4501, "over")
        await here.wait_closed()
        assert here.was_closed_by_other_side
    async with connected() as (here, _), asyncio.timeout(WAIT_SECONDS):
        await here.close(4501, "over")
        assert here.close_code == 4501
        assert not here.was_closed_by_other_side
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        there.transport.abort()
        await here.wait_closed()
        assert not here.was_closed_by_other_side


async def test_closing_is_bounded_where_the_other_side_takes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket, "CLOSE_SECONDS", 0.05)
    async with connected() as (here, there), asyncio.timeout(WAIT_SECONDS):
        there.transport.pause_reading()
        while here.write("x" * 1_000_000) < 10_000_000:
            pass
        await here.close()
        await here.wait_closed()
        # Else it finds out after ten seconds that nobody is there any more.
        there.transport.resume_reading()


def test_certificates_that_have_become_unreadable_are_named(tmp_path: Path) -> None:
    certificate, _ = self_signed(tmp_path)
    encrypted = settings("https://127.0.0.1", ca_file=certificate)
    assert tls_context(encrypted) is not None
    assert tls_context(settings("http://127.0.0.1", ca_file=certificate)) is None
    certificate.unlink()
    with pytest.raises(OSError, match=r"certificate\.pem cannot be read as certificates"):
        tls_context(encrypted)


def test_proxy_is_that_of_the_settings_else_the_environments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://theirs:3128")
    monkeypatch.setenv("no_proxy", "near.example")
    assert proxy_for(settings("https://far.example")) == "http://theirs:3128"
    assert proxy_for(settings("https://near.example")) is None
    ours = settings("https://near.example", proxy="http://ours:3128")
    assert proxy_for(ours) == "http://ours:3128"


@pytest.mark.parametrize(
    ("scheme", "named", "chosen"),
    [
        ("https", ["wss", "socks", "https", "http"], "wss"),
        ("https", ["ws", "socks", "https", "http"], "socks"),
        ("https", ["ws", "https", "http"], "https"),
        ("https", ["ws", "http"], None),
        ("http", ["wss", "ws", "socks", "https", "http"], "ws"),
        ("http", ["wss", "socks", "https", "http"], "socks"),
        ("http", ["wss", "https", "http"], "https"),
        ("http", ["wss", "http"], "http"),
    ],
)
def test_environments_proxy_for_websockets_comes_first_then_socks(
    monkeypatch: pytest.MonkeyPatch, scheme: str, named: list[str], chosen: str | None
) -> None:
    for kind in ("wss", "ws", "socks", "https", "http", "all", "no"):
        monkeypatch.delenv(f"{kind}_proxy", raising=False)
    for kind in named:
        monkeypatch.setenv(f"{kind}_proxy", f"http://{kind}:3128")
    # A SOCKS proxy is named as if it spoke HTTP where it is of the system's own settings.
    expected = "socks5h://socks:3128" if chosen == "socks" else f"http://{chosen}:3128"
    assert proxy_for(settings(f"{scheme}://far.example")) == (expected if chosen else None)


@pytest.mark.parametrize(
    "address", ["foo://u:secret@a", "http://u:secret@a:port", "http://u:secret@a/x", "http://"]
)
def test_proxy_of_the_environment_that_cannot_be_one_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("http_proxy", address)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(MisconfiguredError, match="the environment's proxy") as caught:
        proxy_for(settings("http://far.example"))
    assert "secret" not in str(caught.value)
