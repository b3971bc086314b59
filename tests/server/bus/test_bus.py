"""What every bus must do, over the local bus and over a real nats-server."""

import asyncio
from functools import partial

import pytest

from server.bus.answering import MAX_ANSWERING
from server.bus.bus import (
    MAX_REPLY_BYTES,
    MAX_SENT_BYTES,
    BusAwayError,
    NoResponderError,
    ReplyLostError,
    check_subject,
)
from tests.buses import KINDS, Network, echo, on_network
from tests.waiting import until

pytestmark = pytest.mark.parametrize("kind", KINDS)

LONG = 20.0


async def never(_: bytes) -> bytes:
    await asyncio.Event().wait()
    return b""


@on_network
async def test_request_is_answered_across_nodes(network: Network) -> None:
    asker, answerer = await network.bus(), await network.bus()
    answerer.answer("machine.one", echo)
    await network.settled()
    assert await asker.request("machine.one", b"you", LONG) == b"to you"
    assert await answerer.request("machine.one", b"me", LONG) == b"to me"
    assert await asker.request("machine.one", b"", LONG) == b"to "


@on_network
async def test_subject_that_nobody_answers_is_known_at_once(network: Network) -> None:
    bus = await network.bus()
    bus.subscribe("machine.two", lambda _: None)
    other = bus.answer("machine.twox", echo)
    with pytest.raises(NoResponderError):
        await bus.request("machine.one", b"", LONG)
    other.close()
    other.close()
    with pytest.raises(NoResponderError):
        await bus.request("machine.twox", b"", LONG)


@on_network
async def test_one_of_several_gets_each_request(network: Network) -> None:
    counts = [0, 0, 0]

    def answering(number: int) -> None:
        async def respond(_: bytes) -> bytes:
            counts[number] += 1
            return b"%d" % number

        buses[number].answer("shared", respond)

    buses = [await network.bus() for _ in counts]
    for number in range(len(buses)):
        answering(number)
    await network.settled()
    replies = [await buses[0].request("shared", b"", LONG) for _ in range(100)]
    assert [replies.count(b"%d" % number) for number in range(3)] == counts
    assert sum(counts) == 100
    assert all(counts)


@on_network
async def test_everybody_gets_what_is_published_in_order(network: Network) -> None:
    buses = [await network.bus() for _ in range(3)]
    taken: list[list[bytes]] = [[] for _ in buses]
    for bus, messages in zip(buses, taken, strict=True):
        bus.subscribe("news", messages.append)
    buses[1].subscribe("other", taken[1].append)
    await network.settled()
    sent = [b"%d" % number for number in range(200)]
    for message in sent:
        buses[0].publish("news", message)
    await until(lambda: all(len(messages) >= 200 for messages in taken))
    assert taken == [sent, sent, sent]


@on_network
async def test_what_nobody_takes_is_published_without_a_word(network: Network) -> None:
    bus = await network.bus()
    bus.publish("news", b"")
    await network.settled()
    assert bus.refused == 0


@on_network
async def test_publisher_is_never_called_from_within(network: Network) -> None:
    bus = await network.bus()
    taken: list[bytes] = []
    bus.subscribe("news", taken.append)
    bus.publish("news", b"one")
    assert taken == []
    await until(lambda: taken)


@on_network
async def test_closed_subscription_takes_nothing(network: Network) -> None:
    bus = await network.bus()
    kept: list[bytes] = []
    closed: list[bytes] = []
    first = bus.subscribe("news", closed.append)
    bus.subscribe("news", kept.append)
    await network.settled()
    bus.publish("news", b"one")
    first.close()
    first.close()
    await until(lambda: kept)
    assert closed == []


@on_network
async def test_subscriber_that_raises_harms_nobody(network: Network) -> None:
    bus = await network.bus()
    taken: list[bytes] = []

    def fail(_: bytes) -> None:
        raise RuntimeError("no")

    bus.subscribe("news", fail)
    bus.subscribe("news", taken.append)
    for message in (b"one", b"two"):
        bus.publish("news", message)
    await until(lambda: taken == [b"one", b"two"])


@on_network
async def test_responder_that_raises_is_logged_and_says_nothing(network: Network) -> None:
    async def fail(_: bytes) -> bytes:
        raise RuntimeError("no such thing")

    bus = await network.bus()
    bus.answer("failing", fail)
    bus.answer("fine", echo)
    with pytest.raises(ReplyLostError, match=r"within 0.05 s"):
        await bus.request("failing", b"", 0.05)
    await until(lambda: sum(network.tasks.failures.values()) == 1)
    assert await bus.request("fine", b"x", LONG) == b"to x"


@on_network
async def test_reply_that_comes_too_late_is_lost(network: Network) -> None:
    go_on = asyncio.Event()

    async def wait(message: bytes) -> bytes:
        await go_on.wait()
        return message

    bus = await network.bus()
    bus.answer("slow", wait)
    bus.answer("fine", echo)
    with pytest.raises(ReplyLostError):
        await bus.request("slow", b"old", 0.05)
    go_on.set()
    assert await bus.request("slow", b"new", LONG) == b"new"
    assert bus.refused == 0


@on_network
async def test_request_that_is_given_up_is_forgotten(network: Network) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def wait(message: bytes) -> bytes:
        arrived.set()
        await go_on.wait()
        return message

    bus = await network.bus()
    bus.answer("slow", wait)
    request = network.tasks.start(bus.request("slow", b"", LONG), "a request")
    await arrived.wait()
    request.cancel()
    await asyncio.wait({request})
    go_on.set()
    assert await bus.request("slow", b"x", LONG) == b"x"
    assert len(bus._requests) == 0  # type: ignore[attr-defined]


@on_network
async def test_long_replies_come_whole(network: Network) -> None:
    async def long_reply(message: bytes) -> bytes:
        return bytes(range(256)) * (int(message) // 256) + b"x" * (int(message) % 256)

    asker, answerer = await network.bus(), await network.bus()
    answerer.answer("picture", long_reply)
    await network.settled()
    sizes = [0, 1, 512 * 1024 - 1, 512 * 1024, 512 * 1024 + 1, 3 * 512 * 1024, 16 * 1024 * 1024]
    replies = await asyncio.gather(
        *(asker.request("picture", b"%d" % size, LONG) for size in sizes)
    )
    for size, reply in zip(sizes, replies, strict=True):
        assert reply == await long_reply(b"%d" % size)
    assert asker.refused == 0
    assert asker._requests._waiting_bytes == 0  # type: ignore[attr-defined]


@on_network
async def test_reply_that_is_too_long_is_not_sent(network: Network) -> None:
    async def respond(_: bytes) -> bytes:
        return b"x" * (MAX_REPLY_BYTES + 1)

    bus = await network.bus()
    bus.answer("picture", respond)
    with pytest.raises(ReplyLostError):
        await bus.request("picture", b"", 0.3)
    await until(lambda: sum(network.tasks.failures.values()) == 1)


@on_network
async def test_what_cannot_be_sent_is_refused_at_the_sender(network: Network) -> None:
    bus = await network.bus()
    bus.answer("fine", echo)
    long = b"x" * MAX_SENT_BYTES
    assert await bus.request("fine", long, LONG) == b"to " + long
    with pytest.raises(ValueError, match="at most 524288"):
        await bus.request("fine", long + b"x", LONG)
    with pytest.raises(ValueError, match="at most 524288"):
        bus.publish("fine", long + b"x")
    for subject in ("", "a b", "a..b", ".a", "a.", "a.*", ">", "a\r\nPUB b 0", "é"):
        for call in (
            partial(bus.publish, subject, b""),
            partial(bus.answer, subject, echo),
            partial(bus.subscribe, subject, print),
            partial(check_subject, subject),
        ):
            with pytest.raises(ValueError, match="no subject"):
                call()
        with pytest.raises(ValueError, match="no subject"):
            await bus.request(subject, b"", LONG)


@on_network
async def test_node_with_too_much_to_do_says_so(network: Network) -> None:
    go_on = asyncio.Event()
    begun = 0

    async def wait(_: bytes) -> bytes:
        nonlocal begun
        begun += 1
        await go_on.wait()
        return b""

    asker, answerer = await network.bus(), await network.bus()
    answerer.answer("slow", wait)
    await network.settled()
    requests = [
        network.tasks.start(asker.request("slow", b"", LONG), "a request")
        for _ in range(MAX_ANSWERING)
    ]
    await until(lambda: begun == MAX_ANSWERING)
    for _ in range(3):
        with pytest.raises(BusAwayError, match="too much to do"):
            await asker.request("slow", b"", LONG)
    assert answerer.refused == 3
    go_on.set()
    assert await asyncio.gather(*requests) == [b""] * MAX_ANSWERING
    assert await asker.request("slow", b"", LONG) == b""


@on_network
async def test_bus_that_is_away_takes_nothing(network: Network) -> None:
    bus = await network.bus()
    taken: list[bytes] = []
    bus.subscribe("news", taken.append)
    bus.answer("fine", echo)
    await network.cut()
    assert not bus.is_connected
    bus.publish("news", b"lost")
    with pytest.raises(BusAwayError):
        await bus.request("fine", b"", LONG)
    await network.mend()
    bus.publish("news", b"new")
    await until(lambda: taken)
    # What was published meanwhile is not sent later.
    assert taken == [b"new"]


@on_network
async def test_open_requests_end_when_the_connection_is_lost(network: Network) -> None:
    arrived = asyncio.Event()

    async def wait(message: bytes) -> bytes:
        arrived.set()
        return await never(message)

    bus = await network.bus()
    bus.answer("slow", wait)
    requests = [network.tasks.start(bus.request("slow", b"", 600), "a request") for _ in range(9)]
    await arrived.wait()
    await network.cut()
    ended = await asyncio.gather(*requests, return_exceptions=True)
    assert [type(each) for each in ended] == [ReplyLostError] * 9


@on_network
async def test_registrations_are_there_again_after_every_reconnect(network: Network) -> None:
    asker, answerer = await network.bus(), await network.bus()
    answerer.answer("before", echo)
    closed = answerer.answer("closed", echo)
    taken: list[bytes] = []
    for round_ in range(2):
        await network.cut()
        answerer.answer(f"meanwhile{round_}", echo)
        answerer.subscribe(f"news{round_}", taken.append)
        closed.close()
        await network.mend()
        for subject in ("before", "meanwhile0", f"meanwhile{round_}"):
            assert await asker.request(subject, b"x", LONG) == b"to x"
        with pytest.raises(NoResponderError):
            await asker.request("closed", b"", LONG)
        asker.publish("news0", b"%d" % round_)
        while len(taken) <= round_:
            await network.settled()
    assert taken == [b"0", b"1"]


@on_network
async def test_reconnects_are_told_when_all_is_in_effect(network: Network) -> None:
    bus = await network.bus()
    bus.answer("fine", echo)
    requests: asyncio.Queue[asyncio.Task[bytes]] = asyncio.Queue()

    def fail() -> None:
        raise RuntimeError("no")

    def ask() -> None:
        requests.put_nowait(network.tasks.start(bus.request("fine", b"x", LONG), "a request"))

    bus.on_reconnect(fail)
    bus.on_reconnect(ask)
    for _ in range(2):
        await network.cut()
        await network.mend()
        request = await requests.get()
        assert await request == b"to x"


@on_network
async def test_closed_bus_does_nothing_more(network: Network) -> None:
    bus, other = await network.bus(), await network.bus()
    bus.answer("fine", echo)
    taken: list[bytes] = []
    bus.subscribe("news", taken.append)
    other.answer("other", never)
    await network.settled()
    request = network.tasks.start(bus.request("other", b"", 600), "a request")
    await asyncio.sleep(0)
    await bus.close()
    await bus.close()
    with pytest.raises(ReplyLostError):
        await request
    assert not bus.is_connected
    bus.publish("news", b"")
    with pytest.raises(BusAwayError):
        await bus.request("other", b"", LONG)
    with pytest.raises(NoResponderError):
        await other.request("fine", b"", LONG)
    assert taken == []


@on_network
async def test_thousands_of_requests_at_once(network: Network) -> None:
    asker, answerer = await network.bus(), await network.bus()
    answerer.answer("fine", echo)
    await network.settled()
    replies = await asyncio.gather(
        *(asker.request("fine", b"%d" % number, LONG) for number in range(3000))
    )
    assert replies == [b"to %d" % number for number in range(3000)]
