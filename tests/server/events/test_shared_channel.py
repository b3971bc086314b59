"""What one node knows of an organization's events; several nodes are in test_shared_hub.py."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from unittest.mock import patch
from uuid import UUID

import pytest

from schemas.resources.events import EventType, MachineRemoved
from server.events.event import Subscription
from server.events.outbox import Entry, Outbox, Room
from server.events.shared_channel import FRESH_SECONDS, SharedChannel
from server.store.event_log import EventLog, LoggedEvent
from server.store.mongodb.database import Database
from tests.store import ORGANIZATION

Channels = tuple[SharedChannel, EventLog, Database]


@asynccontextmanager
async def channel_of(uri: str, name: str, history: int = 10) -> AsyncIterator[Channels]:
    """A channel, and the log that it reads."""
    database = Database(uri, name)
    log = EventLog(database)
    try:
        yield (
            SharedChannel(ORGANIZATION, "tag", history, log, Outbox(10, Room(10))),
            log,
            database,
        )
    finally:
        await database.finish()


def events(names: Sequence[str], kind: EventType = "machine") -> list[LoggedEvent]:
    """Events of machines of these names."""
    return [LoggedEvent(kind, name, b"{}") for name in names]


async def append(log: EventLog, number: int, names: Sequence[str]) -> None:
    """Append a batch as another node does."""
    await log.append(ORGANIZATION, number, b"other", events(names))


async def test_batches_are_taken_in_their_order_and_once() -> None:
    channel = SharedChannel(ORGANIZATION, "tag", 10, None, Outbox(10, Room(10)))  # type: ignore[arg-type]
    subscription = Subscription(channel, lambda _: True, 10)
    channel.subscribe(subscription, [])
    assert channel.receive(1, events("ab"))
    assert not channel.receive(4, events("d"))
    assert channel.receive(1, events("ab"))
    assert channel.receive(2, events("bc"))
    assert [event.machine_id for event in subscription.take(10)] == ["a", "b", "c"]
    assert (channel.newest, channel.known_after) == (3, 0)


async def test_node_that_was_away_for_long_looks_before_it_appends(
    mongodb: str, database_name: str
) -> None:
    async with channel_of(mongodb, database_name) as (channel, _, _):
        assert not channel.is_fresh
        await channel.catch_up()
        assert channel.is_fresh
        began = time.time()
        for seconds, is_fresh in (
            (FRESH_SECONDS / 2, True),
            (FRESH_SECONDS + 1, False),
            (-9, False),
        ):
            with patch("time.time", lambda seconds=seconds: began + seconds):
                assert channel.is_fresh == is_fresh


async def test_what_nobody_waits_for_is_passed_over(mongodb: str, database_name: str) -> None:
    async with channel_of(mongodb, database_name, history=3) as (channel, log, _):
        for number in range(1, 8):
            await append(log, number, str(number))
        await channel.catch_up()
        assert (channel.newest, len(channel.history)) == (7, 0)
        await append(log, 8, "8")
        await channel.catch_up()
        assert (channel.newest, len(channel.history)) == (8, 1)


@pytest.mark.parametrize("since", range(9))
async def test_what_was_missed_is_read_from_within_batches(
    mongodb: str, database_name: str, since: int
) -> None:
    async with channel_of(mongodb, database_name, history=6) as (channel, log, _):
        await append(log, 1, "abc")
        await append(log, 4, "de")
        await append(log, 6, "fgh")
        await channel.catch_up()
        missed = await channel.missed_since(since)
        if since < 2:
            assert missed is None
        else:
            assert missed is not None
            assert "".join(event.machine_id or "" for event in missed) == "abcdefgh"[since:]
            assert channel.newest == 8


async def test_what_was_emptied_or_deleted_is_not_known(mongodb: str, database_name: str) -> None:
    async with channel_of(mongodb, database_name) as (channel, log, database):
        for number, name in enumerate("abcd", 1):
            await append(log, number, name)
        batches = database.collection("events")
        second = {"_id": ORGANIZATION.bytes + (2).to_bytes(8)}
        await channel.catch_up()
        await batches.update_one(second, {"$unset": {"events": ""}})
        assert await channel.missed_since(0) is None
        assert len(await channel.missed_since(2) or []) == 2
        await batches.delete_one(second)
        assert await channel.missed_since(1) is None


async def test_what_happens_while_the_past_is_read_is_not_pushed_out_by_it(
    mongodb: str, database_name: str
) -> None:
    async with channel_of(mongodb, database_name, history=3) as (channel, log, _):
        for number, name in enumerate("abc", 1):
            await append(log, number, name)
        await channel.catch_up()
        real = log.beginning_of

        async def beginning_of(organization_id: UUID, number: int) -> int | None:
            assert channel.receive(4, events("d"))
            return await real(organization_id, number)

        with patch.object(log, "beginning_of", beginning_of):
            assert await channel.missed_since(0) is None
        assert [event.number for event in await channel.missed_since(1) or []] == [2, 3, 4]


def entry_of(machine_id: str, made_after: int) -> Entry:
    """A machine that was read when that was the newest number."""

    async def read() -> tuple[EventType, MachineRemoved]:
        raise AssertionError

    entry = Entry(machine_id, LoggedEvent("machine", machine_id, b"{}"), read)
    entry.made_after = made_after
    return entry


async def test_machine_is_outdated_where_it_may_have_been_told_since() -> None:
    channel = SharedChannel(ORGANIZATION, "tag", 4, None, Outbox(10, Room(10)))  # type: ignore[arg-type]
    channel.receive(1, events("abc"))
    channel.receive(4, events("d", "command"))
    assert channel.is_outdated(entry_of("b", 1))
    assert not channel.is_outdated(entry_of("b", 2))
    assert not channel.is_outdated(entry_of("d", 0))
    assert not channel.is_outdated(entry_of("e", 0))
    channel.receive(5, events("f", "machine_removed"))
    assert channel.is_outdated(entry_of("f", 4))
    assert channel.is_outdated(entry_of("e", 0)), "what was told first is not known any more"
    assert not channel.is_outdated(Entry("f", LoggedEvent("command", "f", b"{}")))
