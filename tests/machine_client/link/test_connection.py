"""The connection against a real websocket server that behaves, misbehaves, and goes away."""

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from machine_client.link import connection, reconnecting, websocket
from machine_client.link.failures import MustStopError
from schemas.inputs.outcomes import Completed, Expired, Outcome
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Ack, HeartbeatAck
from tests.machine_client.scripted import (
    WAIT_SECONDS,
    Line,
    QuietInjector,
    closing_with,
    ended,
    greeted,
    heartbeat,
    machine_client,
    move,
    played,
    scripted_server,
)
from tests.processes import free_port

pytestmark = pytest.mark.usefixtures("impatient")


async def test_command_is_carried_out_and_acknowledged(tmp_path: Path) -> None:
    command = move()

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert hello.input.available
        assert hello.displays[0].width == 100
        assert hello.desktop == "x11"
        await line.say(heartbeat(5))
        beat = await line.hear()
        assert isinstance(beat, HeartbeatAck)
        assert (beat.sequence, beat.journal_sequence) == (5, 1)
        await line.say(command)
        acknowledged = await line.hear()
        assert isinstance(acknowledged, Ack)
        assert acknowledged.command_id == command.command_id
        assert isinstance(acknowledged.outcome, Completed)

    await played(tmp_path, script)


async def test_each_heartbeat_has_a_mark_of_its_own_and_no_link_has_one_before(
    tmp_path: Path,
) -> None:
    told = [0]
    marks = set()

    async def script(line: Line) -> None:
        hello = await line.greet()
        assert hello.journal.sequence == told[-1]
        for sequence in range(3):
            await line.say(heartbeat(sequence))
            beat = await line.hear()
            told.append(told[-1] + 1)
            assert isinstance(beat, HeartbeatAck)
            assert (beat.sequence, beat.journal_sequence) == (sequence, told[-1])
            assert beat.mark is not None
            marks.add(beat.mark)
        await line.websocket.close(4000, "again")

    await played(tmp_path, script, script)


async def test_late_command_whose_key_is_in_the_journal_has_its_first_outcome(
    tmp_path: Path,
) -> None:
    command = move()
    outcomes: list[Outcome] = []

    async def script(line: Line) -> None:
        await line.greet()
        for each in (command, move(within=-1, command_id=command.command_id), move(within=-1)):
            await line.say(each)
            acknowledged = await line.hear()
            assert isinstance(acknowledged, Ack)
            outcomes.append(acknowledged.outcome)

    await played(tmp_path, script)
    first, again, other = outcomes
    assert isinstance(first, Completed)
    assert again == first
    assert other == Expired()


async def test_input_before_welcome_closes_the_link_and_is_not_begun(tmp_path: Path) -> None:
    """Something between may answer for the server: the client comes back."""
    desktop = QuietInjector()

    async def script(line: Line) -> None:
        await line.hear()
        await line.say(move())
        assert await line.closed() == (CloseCode.MESSAGE_INVALID, "an input came before welcome")

    await played(tmp_path, script, greeted, open_injector=lambda: desktop)
    assert "mouse.move" not in desktop.calls


async def test_progress_of_a_long_command_is_in_the_journal_before_it_ends(
    tmp_path: Path,
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    desktop = QuietInjector()
    command = move()

    def inject() -> None:
        desktop.injected = 5
        begun.set()
        assert go_on.wait(WAIT_SECONDS)

    desktop.on_inject = inject
    beats: list[int] = []

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(command)
        assert await asyncio.to_thread(begun.wait, WAIT_SECONDS)
        # A mark and no more at each heartbeat: what counts beyond that is the progress.
        async with asyncio.timeout(WAIT_SECONDS):
            while not beats or beats[-1] <= beats[0] + len(beats):
                await line.say(heartbeat(1))
                beat = await line.hear()
                assert isinstance(beat, HeartbeatAck)
                beats.append(beat.journal_sequence)
                desktop.injected += 1
                await asyncio.sleep(0.01)
        go_on.set()
        assert isinstance(await line.hear(), Ack)

    await played(tmp_path, script, open_injector=lambda: desktop)


@pytest.mark.parametrize("code", [1000, 1001, 1011, 1012, 4000, 4001, 4003, 4400, 4499])
async def test_client_comes_back_after_a_code_that_says_so(tmp_path: Path, code: int) -> None:
    async with (
        scripted_server(closing_with(code), greeted) as server,
        machine_client(server.address, tmp_path) as client,
    ):
        await server.finished()
        assert not client.done()


async def test_client_comes_back_after_a_broken_connection(tmp_path: Path) -> None:
    async def breaking(line: Line) -> None:
        await line.greet()
        line.websocket.transport.abort()

    await played(tmp_path, breaking, breaking, greeted)


@pytest.mark.parametrize("code", [4500, 4501, 4502, 4503, 4777, 4999])
async def test_client_stops_on_a_code_that_says_so_with_its_reason(
    tmp_path: Path, code: int
) -> None:
    async with (
        scripted_server(closing_with(code, "a newer one took over")) as server,
        machine_client(server.address, tmp_path) as client,
    ):
        error = await ended(client)
        assert isinstance(error, MustStopError)
        assert f"({code}): a newer one took over" in str(error)
        assert len(server.requests) == 1


async def test_client_tries_again_while_the_server_is_unwell(tmp_path: Path) -> None:
    async with (
        scripted_server(greeted, statuses=(500, 502, 503, 504, 429)) as server,
        machine_client(server.address, tmp_path),
    ):
        await server.finished()
        assert len(server.requests) == 6


async def test_client_waits_for_a_server_that_is_not_there_yet(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    async with machine_client(f"http://127.0.0.1:{port}", tmp_path):
        async with asyncio.timeout(WAIT_SECONDS):
            while "cannot connect" not in caplog.text:  # noqa: ASYNC110 - a log has no event
                await asyncio.sleep(0.01)
        async with scripted_server(greeted, port=port) as server:
            await server.finished()
    assert f"cannot connect to http://127.0.0.1:{port}: connection refused" in caplog.text
    assert "farhand-machine doctor" in caplog.text


@pytest.mark.parametrize(
    "text", ["not json", "{}", '{"type": "dance"}', '{"type": "heartbeat"}', b"\x00\xff"]
)
async def test_message_that_is_none_closes_the_link_with_a_reason_and_the_client_comes_back(
    tmp_path: Path, text: str | bytes
) -> None:
    seen: list[tuple[int | None, str | None]] = []

    async def script(line: Line) -> None:
        await line.greet()
        await line.websocket.send(text)
        seen.append(await line.closed())

    await played(tmp_path, script, greeted)
    ((code, reason),) = seen
    assert code == CloseCode.MESSAGE_INVALID
    assert reason is not None
    assert reason.startswith("not a message: ")


async def test_message_beyond_the_bound_closes_the_link_and_the_client_comes_back(
    tmp_path: Path,
) -> None:
    async def script(line: Line) -> None:
        await line.greet()
        await line.websocket.send("x" * 300_000)
        assert (await line.closed())[0] == 1009

    await played(tmp_path, script, greeted)


async def test_more_than_can_wait_to_be_sent_closes_the_link_and_the_client_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection, "MAX_OUTGOING_BYTES", 1000)
    monkeypatch.setattr(websocket, "CLOSE_SECONDS", 0.1)
    connection_made = websocket.DirectConnection.connection_made

    def take_little(client: websocket.DirectConnection, transport: asyncio.BaseTransport) -> None:
        sending = transport.get_extra_info("socket")
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        connection_made(client, transport)

    # Else the kernel takes megabytes before anything waits.
    monkeypatch.setattr(websocket.DirectConnection, "connection_made", take_little)

    listening = socket.create_server(("127.0.0.1", 0))
    # Before anything connects: a window that was promised once is not taken back.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    async def script(line: Line) -> None:
        await line.greet()
        # A server that asks and asks, and never reads what it is answered at once.
        with suppress(ConnectionClosed):
            while True:
                await line.say(move(within=-1))
                # The client has its turn: else thousands are said before the first is answered.
                await asyncio.sleep(0.001)

    async with (
        scripted_server(script, greeted, sock=listening, max_queue=1) as server,
        machine_client(server.address, tmp_path),
    ):
        await server.finished()
    assert "more than 1000 bytes wait to be sent" in caplog.text


async def test_waiting_command_expires_while_another_runs_without_any_message(
    tmp_path: Path,
) -> None:
    go_on = threading.Event()
    desktop = QuietInjector()
    desktop.on_inject = lambda: None if go_on.wait(WAIT_SECONDS) else pytest.fail("still waiting")
    late = move(within=0.2)

    async def script(line: Line) -> None:
        await line.greet()
        await line.say(move())
        await line.say(late)
        acknowledged = await line.hear()
        assert isinstance(acknowledged, Ack)
        assert (acknowledged.command_id, acknowledged.outcome) == (late.command_id, Expired())
        go_on.set()

    await played(tmp_path, script, open_injector=lambda: desktop)


async def test_lost_link_releases_what_is_held(tmp_path: Path) -> None:
    desktop = QuietInjector()

    async def again(line: Line) -> None:
        await line.greet()
        await line.say(move())
        await line.hear()

    async with (
        scripted_server(closing_with(4000), again) as server,
        machine_client(server.address, tmp_path, open_injector=lambda: desktop),
    ):
        await server.finished()
        assert desktop.calls == ["release", "mouse.move"]


async def test_cancelled_client_lets_go_of_the_desktop(tmp_path: Path) -> None:
    desktop = QuietInjector()
    async with scripted_server(greeted) as server:
        async with machine_client(server.address, tmp_path, open_injector=lambda: desktop):
            await server.finished()
        assert sorted(desktop.calls[:2]) == ["interrupt", "release"]
        assert desktop.calls[2:] == ["close"]


async def test_no_delay_but_the_servers_follows_a_link_that_lasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []

    def counted(longest: float) -> Generator[float, None, None]:
        begun.append(longest)
        while True:
            yield 0.001

    monkeypatch.setattr(reconnecting, "reconnect_delays", counted)
    for lasting, expected in ((60.0, 1), (0.0, 0)):
        monkeypatch.setattr(reconnecting, "LASTING_SECONDS", lasting)
        begun.clear()
        await played(
            tmp_path / str(lasting),
            closing_with(4000),
            closing_with(4000),
            greeted,
            reconnect_longest=7.5,
        )
        # A generator counts when its first delay is asked for: one for both links, or none.
        assert begun == [7.5] * expected
