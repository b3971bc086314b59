"""What only the bus over NATS has to do: NATS that is away, hangs, refuses, or is fed nonsense."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

import pytest
import uvloop

from server.bus import nats_link
from server.bus.bus import MAX_REPLY_BYTES, BusAwayError, NoResponderError, ReplyLostError
from server.bus.nats_bus import NatsBus, addresses_in
from server.bus.nats_link import MAX_PINGS, MAX_UNSENT_BYTES, NatsLink
from server.tasks import Tasks
from tests.buses import NatsNetwork, echo
from tests.nats import NatsServer
from tests.waiting import until

LONG = 20.0


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[NatsServer]:
    """One that has not been started."""
    server = NatsServer(tmp_path)
    yield server
    server.kill()


async def sent_raw(bus: NatsBus, request_subject: str, *lines: bytes) -> None:
    """Have a node answer requests with lines of the protocol; %b is the reply's subject."""
    link = bus._link
    assert link is not None
    taken = link._take

    def take(number: int, subject: bytes, reply: bytes, message: bytes, header: bytes) -> None:
        if subject == request_subject.encode():
            for line in lines:
                link.command(line.replace(b"%b", reply))
        else:
            taken(number, subject, reply, message, header)

    link._take = take
    bus.answer(request_subject, echo)
    await link.until_served()


def piece(number: int, count: int, size: int = 3) -> bytes:
    header = b"NATS/1.0\r\nFarhand-Piece: %d/%d\r\n\r\n" % (number, count)
    return b"HPUB %%b %d %d\r\n%b%b\r\n" % (len(header), len(header) + size, header, b"x" * size)


async def test_node_starts_while_nats_is_away(
    own_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    network = NatsNetwork(own_server)
    bus = NatsBus(own_server.url, network.tasks, name="test")
    calls: list[bool] = []
    bus.on_reconnect(lambda: calls.append(bus.is_connected))
    bus.answer("fine", echo)
    bus.start()
    await until(lambda: "is away" in caplog.text)
    assert not bus.is_connected
    with pytest.raises(BusAwayError):
        await bus.request("fine", b"", LONG)
    bus.publish("fine", b"")
    own_server.start()
    await until(lambda: bus.is_connected)
    assert calls == [True]
    assert await bus.request("fine", b"x", LONG) == b"to x"
    await bus.close()


async def test_going_away_and_coming_back_are_one_line_each(
    own_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    own_server.start()
    network = NatsNetwork(own_server)
    bus = await network.bus()
    for _ in range(2):
        await network.cut()
        # Long enough for several attempts.
        await asyncio.sleep(0.5)
        await network.mend()
    await bus.close()
    where = f"127.0.0.1:{own_server.port}"
    back = f"connected to NATS at {where}"
    away = f"NATS at {where} is away, and will be tried until it is back: it closed the connection"
    assert [record.getMessage() for record in caplog.records] == [back, away, back, away, back]
    assert not [record for record in caplog.records if record.exc_info]
    assert "secret" not in caplog.text


async def test_nats_that_hangs_is_away_soon(
    own_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats_link, "MAX_PINGS", MAX_PINGS)
    own_server.start()
    network = NatsNetwork(own_server)
    asker, answerer = await network.bus(), await network.bus()
    handled: list[bytes] = []

    async def respond(message: bytes) -> bytes:
        handled.append(message)
        return message

    answerer.answer("fine", respond)
    await network.settled()
    own_server.stop()
    request = network.tasks.start(asker.request("fine", b"1", 600), "a request")
    await until(lambda: not asker.is_connected and not answerer.is_connected)
    with pytest.raises(ReplyLostError):
        await request
    with pytest.raises(BusAwayError):
        await asker.request("fine", b"2", LONG)
    own_server.go_on()
    await until(lambda: asker.is_connected and answerer.is_connected)
    assert await asker.request("fine", b"3", LONG) == b"3"
    # Never twice, and never what was refused.
    assert handled in ([b"3"], [b"1", b"3"])
    await network.close()


def test_connection_can_be_lost_with_something_unsent(nats_server: NatsServer) -> None:
    async def lose() -> None:
        link = NatsLink(lambda *_: None)
        await link.open(urlsplit(nats_server.url), "a node")
        assert link._out is not None
        link._out.transport.abort()
        await asyncio.wait_for(link.end, LONG)
        # As pings do that come in this moment.
        link._pending.append(b"PING\r\n")
        link._pending_data_size += len(b"PING\r\n")
        await link.finish()

    # The loop that nodes have, which does not take what is written to a closed connection.
    uvloop.run(lose())


async def test_nats_that_hangs_at_the_start_is_only_away(own_server: NatsServer) -> None:
    own_server.start()
    own_server.stop()
    network = NatsNetwork(own_server)
    bus = NatsBus(own_server.url, network.tasks, name="test")
    bus.start()
    await asyncio.sleep(0.1)
    own_server.go_on()
    await until(lambda: bus.is_connected)
    await bus.close()


async def test_round_trip_is_that_of_the_last_ping(nats_server: NatsServer) -> None:
    network = NatsNetwork(nats_server)
    bus = await network.bus()
    await until(lambda: bus.round_trip_seconds > 0)
    before = bus.round_trip_seconds
    # The next one is asked by itself.
    await until(lambda: bus.round_trip_seconds != before)
    assert 0 < bus.round_trip_seconds < LONG
    await network.cut()
    assert bus.round_trip_seconds == 0
    await network.mend()
    await network.close()


async def test_close_ends_a_connection_that_comes_up_all_the_same(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As asyncio.wait_for of Python 3.11 has it: what it waited for came with the cancellation."""
    is_opening, opened = asyncio.Event(), NatsLink.open

    async def open_all_the_same(link: NatsLink, address: SplitResult, name: str) -> None:
        is_opening.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)
        await opened(link, address, name)

    monkeypatch.setattr(NatsLink, "open", open_all_the_same)
    tasks = Tasks()
    bus = NatsBus(nats_server.url, tasks, name="here")
    bus.start()
    await is_opening.wait()
    async with asyncio.timeout(LONG):
        await bus.close()
    assert not bus.is_connected
    await tasks.close(0)


async def test_what_waits_for_a_slow_nats_is_bounded(
    own_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats_link, "MAX_PINGS", MAX_PINGS)
    own_server.start()
    network = NatsNetwork(own_server)
    bus = await network.bus()
    link = bus._link
    assert link is not None
    assert link._out is not None
    own_server.stop()
    message = b"x" * 500_000
    for _ in range(200):
        bus.publish("news", message)
    waiting = link._out.transport.get_write_buffer_size()
    assert MAX_UNSENT_BYTES < waiting < MAX_UNSENT_BYTES + 2 * len(message)
    with pytest.raises(BusAwayError, match="takes no more"):
        await bus.request("fine", b"", LONG)
    # A reply waits, and is given up with the connection.
    reply = network.tasks.start(link.send_reply(b"_INBOX.x", message), "a reply")
    await until(lambda: not bus.is_connected)
    await reply
    await bus.close()


async def test_wrong_password_is_said_once_and_tried_again(
    nats_server: NatsServer, nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    tasks = Tasks()
    bus = NatsBus(nats_url.replace("secret", "s3cr3t"), tasks, name="test")
    bus.start()
    await until(lambda: caplog.records)
    await asyncio.sleep(0.3)
    assert not bus.is_connected
    await bus.close()
    assert [record.getMessage() for record in caplog.records] == [
        f"NATS at 127.0.0.1:{nats_server.port} is away, and will be tried until it is back: "
        "Authorization Violation"
    ]
    assert not tasks.failures["connect to NATS"]


async def test_server_that_comes_back_with_another_password_is_told(
    own_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    own_server.start()
    bus = await NatsNetwork(own_server).bus()
    own_server.kill()
    await until(lambda: not bus.is_connected)
    own_server.set_password("another")
    own_server.start()
    await until(lambda: len(caplog.records) > 1)
    await asyncio.sleep(0.3)
    away, refused = (record.getMessage() for record in caplog.records)
    assert away.endswith("it closed the connection")
    assert refused.endswith("does not let us in: Authorization Violation")
    await bus.close()


async def test_replies_wait_for_a_slow_nats(own_server: NatsServer) -> None:
    own_server.start()
    network = NatsNetwork(own_server)
    bus = await network.bus()
    link = bus._link
    assert link is not None
    taken: list[bytes] = []
    bus.subscribe("replies", taken.append)
    await network.settled()
    own_server.stop()
    while link.send(b"news", b"x" * 500_000):
        pass
    replies = [b"", b"x" * 1000, b"x" * 1_000_000]
    sent = [network.tasks.start(link.send_reply(b"replies", each), "a reply") for each in replies]
    await asyncio.sleep(0)
    assert not any(each.done() for each in sent)
    own_server.go_on()
    await asyncio.gather(*sent)
    await until(lambda: b"".join(taken) == b"".join(replies))
    assert taken[:2] == replies[:2]
    await network.close()


async def test_passwords_may_have_any_characters(own_server: NatsServer) -> None:
    own_server.set_password("a@b:c/d%e")
    own_server.start()
    bus = NatsBus(
        own_server.url.replace("secret", quote("a@b:c/d%e", safe="")), Tasks(), name="test"
    )
    bus.start()
    await until(lambda: bus.is_connected)
    await bus.close()


async def test_server_without_tls_is_given_no_password(
    nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    bus = NatsBus(nats_url.replace("nats:", "tls:"), Tasks(), name="test")
    bus.start()
    await until(lambda: caplog.records)
    assert "does not ask for TLS" in caplog.text
    assert not bus.is_connected
    await bus.close()


async def test_server_that_takes_short_messages_only_is_of_no_use(
    own_server: NatsServer, caplog: pytest.LogCaptureFixture
) -> None:
    own_server.set_password("secret", "max_payload: 500000")
    own_server.start()
    bus = NatsBus(own_server.url, Tasks(), name="test")
    bus.start()
    await until(lambda: caplog.records)
    assert "its max_payload is less than" in caplog.text
    await bus.close()


async def test_one_of_several_servers_is_enough(own_server: NatsServer, nats_url: str) -> None:
    bus = NatsBus(f"{own_server.url}, {nats_url}", Tasks(), name="test")
    bus.start()
    await until(lambda: bus.is_connected)
    await bus.close()


@pytest.mark.parametrize(
    "lines",
    [
        (piece(2, 2),),
        (piece(1, 2), piece(1, 2)),
        (piece(1, 3), piece(3, 3)),
        (piece(1, 1), piece(2, 1)),
        (piece(2, 1),),
        (piece(1, 2, 0),),
        (piece(1, 2), b"PUB %b 1\r\nx\r\n"),
    ],
)
async def test_pieces_that_do_not_fit_are_refused(
    nats_server: NatsServer, lines: tuple[bytes, ...]
) -> None:
    nats_server.start()
    network = NatsNetwork(nats_server)
    asker, answerer = await network.bus(), await network.bus()
    await sent_raw(answerer, "strange", *lines)
    if lines[0] == piece(1, 1):
        # It was whole already, and nobody waits any more.
        assert await asker.request("strange", b"", LONG) == b"xxx"
    else:
        with pytest.raises(ReplyLostError, match=r"does not fit|between pieces"):
            await asker.request("strange", b"", LONG)
        assert asker.refused == 1
    assert asker._requests._waiting_bytes == 0
    await network.close()


async def test_reply_in_pieces_is_no_longer_than_one_may_be(nats_server: NatsServer) -> None:
    nats_server.start()
    network = NatsNetwork(nats_server)
    asker, answerer = await network.bus(), await network.bus()
    size = 1024 * 1000
    count = MAX_REPLY_BYTES // size + 1
    await sent_raw(answerer, "strange", *(piece(n, count, size) for n in range(1, count + 1)))
    with pytest.raises(ReplyLostError, match="does not fit"):
        await asker.request("strange", b"", LONG)
    assert asker.refused == 1
    assert asker._requests._waiting_bytes == 0
    await network.close()


async def test_strange_messages_are_counted_and_dropped(nats_server: NatsServer) -> None:
    nats_server.start()
    network = NatsNetwork(nats_server)
    asker, answerer = await network.bus(), await network.bus()
    header = b"NATS/1.0\r\nOther: 1\r\n\r\n"
    line = b"HPUB %%b %d %d\r\n%b\r\n" % (len(header), len(header), header)
    await sent_raw(answerer, "strange", line, line)
    answerer.answer("fine", echo)
    with pytest.raises(ReplyLostError):
        await asker.request("strange", b"", 0.2)
    await until(lambda: asker.refused == 2)
    # A request that names nobody to reply to.
    asker.publish("fine", b"")
    await until(lambda: answerer.refused == 1)
    await network.close()


async def test_request_that_meets_a_closed_answer_is_refused_at_once(
    nats_server: NatsServer,
) -> None:
    nats_server.start()
    network = NatsNetwork(nats_server)
    asker, answerer = await network.bus(), await network.bus()
    registration = answerer.answer("fine", echo)
    await network.settled()
    # As if the request had been under way when it was closed.
    answerer._registrations.clear()
    with pytest.raises(NoResponderError):
        await asker.request("fine", b"", LONG)
    registration.close()
    await network.close()


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:4222", "http://host", "nats://", "nats://u:secret@host:port"),
        *("nats://host,", "nats://u:secret@host:99999", "nats://[::1"),
    ],
)
def test_url_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="nats://host:4222") as caught:
        addresses_in(url)
    assert "secret" not in str(caught.value)
