"""Writes that are made together, and what each caller is told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pymongo import WriteConcern
from pymongo.read_concern import ReadConcern

from server.errors import AlreadyExists, StoreError, StoreUnavailable
from server.store.embedded_mongod import EmbeddedMongoDB
from server.store.mongodb import grouped_writes
from server.store.mongodb.database import Database
from server.store.mongodb.grouped_writes import (
    GroupedWrites,
    grouped_inserts,
    grouped_updates,
)
from tests.waiting import WAIT_SECONDS, waited

DOCUMENTS = [{"_id": number, "is": "there"} for number in range(8)]


class Gate:
    """Makes writes that only note themselves, each group when the test opens the gate."""

    def __init__(self, database: Database) -> None:
        self.groups: list[list[str]] = []
        self.open = asyncio.Semaphore(0)
        self.writes = GroupedWrites[str, str](database, self._make_all)

    async def _make_all(self, writes: Sequence[str]) -> list[str]:
        self.groups.append(list(writes))
        await self.open.acquire()
        return [f"{write} is made" for write in writes]

    def make(self, database: Database, write: str) -> "asyncio.Task[str]":
        return database.tasks.start(self.writes.make(write), write)


@asynccontextmanager
async def away(timeout: float = 0.2) -> AsyncIterator[Database]:
    """A database at which nobody answers."""
    database = Database("mongodb://127.0.0.1:1/", timeout=timeout)
    yield database
    await database.finish()


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_group_is_what_waits_while_another_write_is_under_way() -> None:
    async with away(10) as database:
        gate = Gate(database)
        callers = [gate.make(database, "a")]
        await turns()
        assert gate.groups == [["a"]]  # It came alone, and waited for nobody.
        callers += [gate.make(database, write) for write in "bcd"]
        await turns()
        assert gate.groups == [["a"]]
        gate.open.release()
        await turns()
        assert gate.groups == [["a"], ["b", "c", "d"]]
        callers.append(gate.make(database, "e"))
        for _ in range(2):
            gate.open.release()
        made = await asyncio.gather(*callers)
        assert made == [f"{write} is made" for write in "abcde"]
        assert gate.groups == [["a"], ["b", "c", "d"], ["e"]]


async def test_groups_and_what_waits_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped_writes, "MOST_TOGETHER", 2)
    monkeypatch.setattr(grouped_writes, "MOST_WAITING", 3)
    async with away(10) as database:
        gate = Gate(database)
        callers = [gate.make(database, write) for write in "abcd"]
        await turns()
        with pytest.raises(StoreUnavailable, match="Too many"):
            await gate.writes.make("e")
        for _ in range(3):
            gate.open.release()
        await asyncio.gather(*callers)
        assert gate.groups == [["a"], ["b", "c"], ["d"]]


async def test_caller_that_gives_up_takes_its_write_back_and_no_others() -> None:
    async with away(10) as database:
        gate = Gate(database)
        callers = [gate.make(database, write) for write in "abcd"]
        await turns()
        callers[2].cancel()  # It waits.
        await turns()
        gate.open.release()
        await turns()
        callers[1].cancel()  # Its group is under way.
        gate.open.release()
        ended = await asyncio.gather(*callers, return_exceptions=True)
        assert gate.groups == [["a"], ["b", "d"]]
        assert ended[0] == "a is made"
        assert ended[3] == "d is made"
        assert [type(each) for each in ended[1:3]] == [asyncio.CancelledError] * 2


async def test_lone_write_that_is_given_up_keeps_nobody_waiting() -> None:
    async with away(10) as database:
        gate = Gate(database)
        callers = [gate.make(database, write) for write in "ab"]
        await turns()
        callers[0].cancel()
        gate.open.release()
        assert await callers[1] == "b is made"
        gate.open.release()
        assert await gate.make(database, "c") == "c is made"


async def test_wait_for_a_group_counts_against_the_timeout() -> None:
    async with away(0.1) as database:
        gate = Gate(database)
        callers = [gate.make(database, write) for write in "abc"]
        ended = await asyncio.gather(*callers, return_exceptions=True)
        assert [type(each) for each in ended] == [StoreUnavailable] * 3
        assert database.failures == 3


async def test_every_caller_is_told_that_the_store_is_away() -> None:
    async with away() as database:
        collection = database.collection("things")
        inserts = grouped_inserts(database, collection)
        updates = grouped_updates(database, collection)
        ended = await asyncio.gather(
            *(inserts.make(dict(each)) for each in DOCUMENTS),
            *(updates.make((each, {"$set": {"is": "away"}})) for each in DOCUMENTS),
            return_exceptions=True,
        )
        assert [type(each) for each in ended] == [StoreUnavailable] * 16
        assert len({id(each) for each in ended}) == 16
        assert database.failures == 16


async def test_duplicate_in_the_middle_is_its_own(database: Database) -> None:
    collection = database.collection("things")
    await collection.insert_one({"_id": 4, "is": "old"})
    inserts = grouped_inserts(database, collection)
    twice = [*DOCUMENTS, {"_id": 6, "is": "too late"}]
    ended = await asyncio.gather(
        *(inserts.make(dict(each)) for each in twice), return_exceptions=True
    )
    failed = [number for number, each in enumerate(ended) if each is not None]
    assert failed == [4, 8]
    assert isinstance(ended[4], AlreadyExists)
    assert isinstance(ended[8], AlreadyExists)
    stored = await collection.find({}, sort=[("_id", 1)]).to_list(None)
    assert stored == [{**each, "is": "old"} if each["_id"] == 4 else each for each in DOCUMENTS]


async def test_what_cannot_be_encoded_fails_alone(database: Database) -> None:
    inserts = grouped_inserts(database, database.collection("things"))
    documents: list[dict[str, Any]] = [dict(each) for each in DOCUMENTS]
    documents[3]["is"] = 2**64
    ended = await asyncio.gather(
        *(inserts.make(each) for each in documents), return_exceptions=True
    )
    assert [number for number, each in enumerate(ended) if each is not None] == [3]
    assert isinstance(ended[3], OverflowError)
    assert await database.collection("things").count_documents({}) == 7


async def test_nobody_is_told_that_another_s_document_was_changed(database: Database) -> None:
    collection = database.collection("things")
    await collection.insert_many(DOCUMENTS)
    updates = grouped_updates(database, collection)
    change = {"$set": {"is": "changed"}}
    assert all(await asyncio.gather(*(updates.make(({"_id": n}, change)) for n in range(4))))
    # Of a group of which some were changed nobody may be told that it was one of them.
    wanted = [{"_id": 4}, {"_id": 5}, {"_id": 99}, {"_id": 6}]
    told = await asyncio.gather(*(updates.make((each, change)) for each in wanted))
    assert told == [True, False, False, False]
    changed = await collection.find({"is": "changed"}).distinct("_id")
    assert changed == [0, 1, 2, 3, 4, 5, 6]


async def test_update_that_changes_nothing_is_none(database: Database) -> None:
    collection = database.collection("things")
    await collection.insert_many(DOCUMENTS)
    updates = grouped_updates(database, collection)
    change = ({"_id": 1}, {"$set": {"is": "changed"}})
    assert [await updates.make(change), await updates.make(change)] == [True, False]


async def test_update_that_is_refused_is_its_own(database: Database) -> None:
    collection = database.collection("things")
    await collection.insert_many(DOCUMENTS)
    updates = grouped_updates(database, collection)
    ended = await asyncio.gather(
        *(
            # The id of a document never changes.
            updates.make(({"_id": n}, {"$set": {"_id": 9} if n == 3 else {"is": "changed"}}))
            for n in range(6)
        ),
        return_exceptions=True,
    )
    assert isinstance(ended[3], Exception)
    assert all(isinstance(each, bool) for n, each in enumerate(ended) if n != 3)
    assert await collection.find({"is": "changed"}).distinct("_id") == [0, 1, 2, 4, 5]


async def test_write_concern_that_cannot_be_met_is_as_with_a_single_write(
    database: Database,
) -> None:
    collection = database.collection("things")
    await collection.insert_one({"_id": 2})
    exacting = collection.with_options(write_concern=WriteConcern(5))
    inserts = grouped_inserts(database, exacting)
    with pytest.raises(StoreError, match="code 100") as alone:
        await inserts.make({"_id": 99})
    ended = await asyncio.gather(
        *(inserts.make(dict(each)) for each in DOCUMENTS), return_exceptions=True
    )
    # A duplicate is one, whoever holds it.
    assert [number for number, each in enumerate(ended) if type(each) is AlreadyExists] == [2]
    assert {str(each) for number, each in enumerate(ended) if number != 2} == {str(alone.value)}


async def test_nobody_knows_what_a_majority_did_not_confirm_in_time(tmp_path: Path) -> None:
    """A member that never comes keeps all writes waiting: each may stand, or be undone."""
    embedded = EmbeddedMongoDB(tmp_path)
    uri = await embedded.start()
    database, hurried = (Database(uri, "unconfirmed", timeout=each) for each in (WAIT_SECONDS, 0.5))
    try:
        # To connect takes longer than to write.
        await waited(lambda: answer_of(hurried))
        async with member_that_never_comes(database):
            collection = hurried.collection("things").with_options(write_concern=WriteConcern(2))
            inserts = grouped_inserts(hurried, collection)
            updates = grouped_updates(hurried, collection)
            changes = [({"_id": n}, {"$set": {"is": "changed"}}) for n in range(8)]
            for writes in (
                [inserts.make(dict(each)) for each in DOCUMENTS],
                [updates.make(each) for each in changes],
            ):
                told = await asyncio.gather(*writes, return_exceptions=True)
                assert [type(each) for each in told] == [StoreUnavailable] * 8
            # The first was made alone, and has happened.
            seen = database.collection("things").with_options(read_concern=ReadConcern("local"))
            assert await seen.find_one({"_id": 0}) is not None
    finally:
        for each in (database, hurried):
            await each.finish()
        await embedded.stop()


async def answer_of(database: Database) -> bool | None:
    with suppress(StoreUnavailable):
        await database.ping()
        return True
    return None


@asynccontextmanager
async def member_that_never_comes(database: Database) -> AsyncIterator[None]:
    admin = database.collection("things").database.client.admin
    configuration = (await admin.command("replSetGetConfig"))["config"]
    members = configuration["members"]
    never = {"_id": 7, "host": "./never.sock", "priority": 0, "votes": 0}

    async def configure(members: list[dict[str, Any]]) -> None:
        configuration["version"] += 1
        await admin.command("replSetReconfig", {**configuration, "members": members}, force=True)

    await configure([*members, never])
    yield
    await configure(members)  # With it, mongod would wait for it before it stops.
