"""What stands between a desktop and its server may answer anything: the client comes back."""

import asyncio
import random
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response

from machine_client.link.events import Event, MessageReceived
from machine_client.link.failures import MustStopError
from machine_client.link.session import Session
from machine_client.link.websocket import DirectConnection
from machine_client.work.executor import Executor
from schemas.http import problems
from schemas.link.close_codes import CloseCode
from schemas.link.messages import CONNECT_PATH, SUBPROTOCOL, Heartbeat, HeartbeatAck, Hello
from tests.machine_client.scripted import (
    WAIT_SECONDS,
    Line,
    ended,
    greeted,
    heartbeat,
    machine_client,
    played,
    problem,
    response,
    scripted_server,
)
from tests.proxies import http_proxy

pytestmark = pytest.mark.usefixtures("impatient")

DENIED = b"<html>Sign in to the guest network</html>" * 1000


async def said(caplog: pytest.LogCaptureFixture, text: str) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while text not in caplog.text:  # noqa: ASYNC110 - a log has no event
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("final", [problems.UNAUTHENTICATED, problems.FORBIDDEN])
async def test_servers_own_refusal_of_the_token_ends_the_client(
    tmp_path: Path, final: problems.ProblemType
) -> None:
    async with (
        scripted_server(greeted, statuses=(problem(final, "it was revoked"),)) as server,
        machine_client(server.address, tmp_path) as client,
    ):
        error = await ended(client)
        assert isinstance(error, MustStopError)
        assert "it was revoked" in str(error)
        assert len(server.requests) == 1


async def test_client_outlasts_every_answer_that_is_not_its_servers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    page = {"Content_Type": "text/html"}
    answers: tuple[int | Response, ...] = (
        *(response(status, DENIED, **page) for status in (200, 401, 403, 404, 407, 426, 502, 511)),
        problem(problems.WEBSOCKET_REQUIRED, "a proxy has taken Upgrade away"),
        problem(problems.STORAGE_UNAVAILABLE, "the database does not answer"),
    )
    async with (
        scripted_server(greeted, statuses=answers) as server,
        machine_client(server.address, tmp_path, reconnect_longest=0.05),
    ):
        await server.finished()
        assert len(server.requests) == len(answers) + 1
        assert (
            f"cannot connect to {server.address}: what answered is no Farhand server: HTTP 404"
            in (caplog.text)
        )
    assert "farhand-machine doctor" in caplog.text
    assert "guest network" not in caplog.text


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize("origin", ["same", "another"])
async def test_token_follows_no_redirect(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: int, origin: str
) -> None:
    async with scripted_server() as other, scripted_server(greeted) as server:
        base = server.address if origin == "same" else other.address
        server.statuses.append(
            response(status, Location=f"{base.replace('http', 'ws')}/login?secret=1")
        )
        async with machine_client(server.address, tmp_path):
            await server.finished()
        assert [request.path for request in server.requests] == [CONNECT_PATH] * 2
        assert other.requests == []
    assert f"HTTP {status} " in caplog.text
    assert "/login; the token follows none" in caplog.text
    assert "secret" not in caplog.text


async def test_other_subprotocol_and_none_at_all_pass(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = iter(["something.else.v1", None, SUBPROTOCOL])
    async with (
        scripted_server(
            greeted, subprotocols=None, select_subprotocol=lambda *_: next(chosen)
        ) as server,
        machine_client(server.address, tmp_path),
    ):
        # Neither of the first two heard a hello: the script is still to come.
        server.scripts.extendleft([no_hello, no_hello])
        await server.finished()
    assert "unsupported subprotocol: something.else.v1" in caplog.text
    assert "it chose no subprotocol" in caplog.text


async def no_hello(line: Line) -> None:
    with suppress(ConnectionClosed):
        pytest.fail(f"a stranger was told {await line.hear()!r}")


Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"\x00\xff SSH-2.0-OpenSSH_9.2\r\n" * 100)
    await writer.drain()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


async def half_an_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 101 Switching Prot")
    await writer.drain()


async def no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


async def nothing(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    """Close at once."""


@asynccontextmanager
async def stranger(behaviour: Behaviour) -> AsyncIterator[int]:
    """Something that is no Farhand server; its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await behaviour(reader, writer)
        finally:
            # A client that is stopped meanwhile may have said nothing.
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (garbage, "does not speak HTTP"),
        (reset, "onnection"),
        (half_an_answer, "does not speak HTTP"),
        (nothing, "onnection"),
    ],
)
async def test_stranger_at_the_servers_address_passes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, behaviour: Behaviour, words: str
) -> None:
    async with stranger(behaviour) as port:
        address = f"http://127.0.0.1:{port}"
        async with machine_client(address, tmp_path) as client:
            await said(caplog, f"cannot connect to {address}: ")
            assert words in caplog.text
            assert not client.done()


async def test_port_without_tls_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with stranger(no_tls) as port:
        address = f"https://127.0.0.1:{port}"
        async with machine_client(address, tmp_path) as client:
            await said(caplog, f"cannot connect to {address}: no TLS connection came about: ")
            assert not client.done()


async def test_proxy_that_is_gone_is_named_without_its_credentials(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with http_proxy() as gone:
        pass
    server = "http://farhand.example"
    async with machine_client(server, tmp_path, proxy=gone.url("user:secret")) as client:
        await said(caplog, f"cannot connect to {server} through the proxy {gone.url()}: ")
        assert not client.done()
    assert "secret" not in caplog.text


async def test_client_that_was_taken_over_comes_back_yielding_until_it_is_welcomed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    yields: list[bool] = []

    async def refused(line: Line) -> None:
        hello = await line.hear()
        assert isinstance(hello, Hello)
        yields.append(hello.yields)
        await line.websocket.close(CloseCode.TAKEN_OVER, "another has the link")

    async def admitted(line: Line) -> None:
        yields.append((await line.greet()).yields)
        await line.websocket.close(CloseCode.SERVER_STOPPING, "later")

    await played(tmp_path, refused, refused, refused, admitted, admitted)
    assert yields == [False, True, True, True, False]
    # The same trouble three times is one line.
    assert caplog.text.count("another machine client with this token has the link") == 1


async def test_first_try_after_a_lost_link_waits_as_the_server_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    random.seed(4)

    async def script(line: Line) -> None:
        await line.greet(spread_seconds=3600)
        await line.websocket.close(CloseCode.SERVER_STOPPING, "later")

    async with scripted_server(script) as server, machine_client(server.address, tmp_path):
        await said(caplog, "link closed (4000: later)")
        assert len(server.requests) == 1
    found = re.search(r"trying again in ([\d.]+) s", caplog.text)
    assert found is not None
    assert float(found[1]) > 60


async def test_orderly_stop_is_told_to_the_server(tmp_path: Path) -> None:
    endings: list[tuple[int | None, str | None]] = []
    is_open, is_closed = asyncio.Event(), asyncio.Event()

    async def script(line: Line) -> None:
        await line.greet()
        is_open.set()
        endings.append(await line.closed())
        is_closed.set()

    async with scripted_server(script) as server:
        async with machine_client(server.address, tmp_path):
            await is_open.wait()
        await is_closed.wait()
    assert endings == [(1001, "the machine client was stopped")]


async def test_mistake_in_the_session_ends_the_client_where_it_would_be_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The event comes from the websocket's reader, which logs an exception and goes on."""
    handle = Session.handle

    def stumble(session: Session, event: Event) -> list[object]:
        if isinstance(event, MessageReceived) and isinstance(event.message, Heartbeat):
            raise KeyError("a mistake")
        return [*handle(session, event)]

    monkeypatch.setattr(Session, "handle", stumble)

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(heartbeat(1))
        await line.closed()

    async with (
        scripted_server(script) as server,
        machine_client(server.address, tmp_path) as client,
    ):
        assert isinstance(await ended(client), KeyError)
    assert "the session failed, and the machine client cannot go on" in caplog.text


async def test_ticker_that_fails_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    note_progress, ticked = Executor.note_progress, asyncio.Event()
    failures: Iterator[Exception] = iter([OSError("the disk is full")])

    def note(executor: Executor) -> None:
        for failure in failures:
            raise failure
        ticked.set()
        note_progress(executor)

    monkeypatch.setattr(Executor, "note_progress", note)
    async with scripted_server(greeted) as server, machine_client(server.address, tmp_path):
        async with asyncio.timeout(WAIT_SECONDS):
            await ticked.wait()
    assert "task ticker failed and begins again" in caplog.text
    assert "the disk is full" in caplog.text


async def test_link_whose_pings_have_failed_is_ended_and_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would notice any more that the network has gone silent."""
    heard = asyncio.Event()

    async def fail_once(_: DirectConnection) -> Awaitable[float]:
        # Not before the first link was used, nor on the second.
        await heard.wait()
        heard.clear()
        raise RuntimeError("a mistake")

    monkeypatch.setattr(DirectConnection, "ping", fail_once)

    async def beating(line: Line) -> None:
        await line.greet()
        await line.say(heartbeat(1))
        assert isinstance(await line.hear(), HeartbeatAck)
        heard.set()
        await line.closed()

    await played(tmp_path, beating, greeted, heartbeat=0.1)
