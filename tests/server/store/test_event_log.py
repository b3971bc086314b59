"""The log of events: one order, nothing lost that is promised, and nothing that stays for ever."""

from datetime import timedelta
from unittest.mock import patch
from uuid import UUID

import pytest

from server.errors import AlreadyExists
from server.store.event_log import BATCHES_AT_ONCE, LATE_INSERT, EventBatch, EventLog, LoggedEvent
from server.store.mongodb.database import Database
from server.store.times import now
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, opened

EVENT = LoggedEvent("machine", "desk-1", b'{"id":"\xc3\xa9"}')
OTHER_EVENT = LoggedEvent("trajectory", None, b"{}")


async def append(
    log: EventLog, number: int, count: int = 1, organization_id: UUID = ORGANIZATION
) -> None:
    """Append so many events."""
    await log.append(organization_id, number, b"attempt", [EVENT] * count)


async def numbers(log: EventLog, since: int = 0) -> list[int]:
    """With which numbers the batches begin."""
    return [batch.number for batch in await log.since(ORGANIZATION, since)]


@pytest.fixture
def log(database: Database) -> EventLog:
    return EventLog(database)


async def test_batches_are_read_as_they_were_appended(log: EventLog) -> None:
    assert (await log.newest(ORGANIZATION), await log.since(ORGANIZATION, 0)) == (0, [])
    await log.append(ORGANIZATION, 1, b"first", [EVENT, OTHER_EVENT])
    await append(log, 3)
    await append(log, 1, organization_id=OTHER_ORGANIZATION)
    found = await log.since(ORGANIZATION, 0)
    assert found[0] == EventBatch(1, 2, b"first", [EVENT, OTHER_EVENT])
    assert [batch.number for batch in found] == [1, 3]
    assert await numbers(log, 2) == [3]
    assert await numbers(log, 3) == []
    assert await log.newest(ORGANIZATION) == 3
    assert await log.newest(OTHER_ORGANIZATION) == 1


async def test_number_is_given_once(log: EventLog) -> None:
    await append(log, 1)
    with pytest.raises(AlreadyExists):
        await append(log, 1)


async def test_batch_of_a_number_is_found(log: EventLog) -> None:
    await append(log, 300, 3)
    await append(log, 303, 300)
    await append(log, 1, 5, OTHER_ORGANIZATION)
    found = [await log.beginning_of(ORGANIZATION, each) for each in (299, 300, 302, 303, 602)]
    assert found == [None, 300, 300, 303, 303]
    assert await log.beginning_of(ORGANIZATION, 603) is None


async def test_those_with_more_are_found_together(log: EventLog) -> None:
    many = [UUID(int=number) for number in range(2 * BATCHES_AT_ONCE + 1)]
    for organization_id in (many[0], many[-1]):
        await append(log, 1, 5, organization_id)
    assert await log.with_more({}) == set()
    assert await log.with_more(dict.fromkeys(many, 0)) == {many[0], many[-1]}
    assert await log.with_more({**dict.fromkeys(many, 0), many[0]: 5}) == {many[-1]}


async def test_trimming_leaves_what_is_promised_and_what_is_young(
    database: Database, log: EventLog
) -> None:
    for number in range(1, 2001, 100):
        await append(log, number, 100)
    await append(log, 1, organization_id=OTHER_ORGANIZATION)
    await log.trim(ORGANIZATION, 1001)
    assert len(await numbers(log)) == 20
    await make_older(database, LATE_INSERT)
    await log.trim(ORGANIZATION, 1001)
    assert await log.beginning_of(ORGANIZATION, 1001) == 1001
    assert (await numbers(log))[0] == 601
    await log.trim(ORGANIZATION, 3)
    assert (await numbers(log))[0] == 601
    assert await log.newest(OTHER_ORGANIZATION) == 1


async def test_old_batches_are_emptied_and_their_numbers_stay(
    database: Database, log: EventLog
) -> None:
    await append(log, 1, 2)
    await make_older(database, timedelta(hours=1))
    await append(log, 3)
    await log.empty_old()
    await log.empty_old()
    old, young = await log.since(ORGANIZATION, 0)
    assert old == EventBatch(1, 2, b"attempt", None)
    assert young.events == [EVENT]
    with pytest.raises(AlreadyExists):
        await append(log, 1)


async def make_older(database: Database, by: timedelta) -> None:
    """Let that much time have passed since everything was appended."""
    change = {"$set": {"created_at": now() - by - timedelta(seconds=1)}}
    await database.collection("events").update_many({}, change)


async def test_looking_for_what_is_old_uses_its_index(
    mongodb: str, fresh_database_name: str
) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        log = EventLog(database)
        await append(log, 1)
        with patch("server.store.event_log.LIFETIME", timedelta(0)):
            await log.empty_old()
        stats = database.collection("events").aggregate([{"$indexStats": {}}])
        used = {each["name"]: each["accesses"]["ops"] async for each in stats}
        assert used["not_emptied"] == 1
