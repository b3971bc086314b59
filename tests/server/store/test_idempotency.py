import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from server.errors import AlreadyExists, KeyReused, StoreUnavailable, WrongState
from server.store.idempotency import IdempotencyStore, KeyedRequest
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from tests.store import ORGANIZATION, OTHER_ORGANIZATION

DAY = timedelta(hours=24)


def request(key: str = "k", fingerprint: str = "f", of: UUID = ORGANIZATION) -> KeyedRequest:
    return KeyedRequest(of, key, fingerprint)


class Work:
    """Leaves a document each time that it is done."""

    def __init__(self, database: Database) -> None:
        self.traces = database.collection("traces")
        self.tries = 0

    async def __call__(self, session: Session) -> Document:
        self.tries += 1
        made = await self.traces.insert_one({}, session=session)
        return {"made": made.inserted_id}

    async def done(self) -> int:
        return await self.traces.count_documents({})


async def test_second_request_gets_the_first_result(database: Database) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)
    first, replayed = await keys.once(request(), work)
    assert not replayed
    assert await keys.once(request(), work) == (first, True)
    assert await work.done() == 1


async def test_without_a_key_it_is_done_each_time(database: Database) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)
    for _ in range(2):
        assert not (await keys.once(None, work))[1]
    assert await work.done() == 2


async def test_same_key_of_another_request_is_refused_and_of_another_organization_is_another_key(
    database: Database,
) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)
    await keys.once(request(), work)
    with pytest.raises(KeyReused):
        await keys.once(request(fingerprint="g"), work)
    await keys.once(request(of=OTHER_ORGANIZATION, fingerprint="g"), work)
    assert await work.done() == 2


async def test_many_at_once_are_one(database: Database) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)
    results = await asyncio.gather(*(keys.once(request(), work) for _ in range(12)))
    assert await work.done() == 1
    assert len({result["made"] for result, _ in results}) == 1
    assert sum(not replayed for _, replayed in results) == 1


async def test_refused_work_leaves_the_key_free(database: Database) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)

    async def refused(session: Session) -> Document:
        await work(session)
        raise WrongState("not now")

    with pytest.raises(WrongState):
        await keys.once(request(), refused)
    assert await work.done() == 0
    assert not (await keys.once(request(), work))[1]


async def test_work_that_the_first_made_impossible_gets_the_first_result(
    database: Database,
) -> None:
    keys, work = IdempotencyStore(database, DAY), Work(database)

    async def overtaken(_: Session) -> Document:
        if not await work.done():
            await keys.once(request(), work)
        raise AlreadyExists("The other one was faster.")

    result, replayed = await keys.once(request(), overtaken)
    assert (replayed, result) == (True, (await keys.once(request(), work))[0])


async def test_key_is_free_again_when_its_lifetime_is_over(database: Database) -> None:
    work = Work(database)
    await IdempotencyStore(database, timedelta(0)).once(request(), work)
    result, replayed = await IdempotencyStore(database, DAY).once(request(fingerprint="g"), work)
    assert not replayed
    assert await IdempotencyStore(database, DAY).once(request(fingerprint="g"), work) == (
        result,
        True,
    )


async def test_database_that_does_not_answer_is_no_refusal(database: Database) -> None:

    async def silent(_: Session) -> Any:
        raise StoreUnavailable("The database does not answer.")

    with pytest.raises(StoreUnavailable):
        await IdempotencyStore(database, DAY).once(request(), silent)


async def test_database_deletes_a_key_when_its_lifetime_is_over(database: Database) -> None:
    indexes = await database.collection("idempotency_keys").index_information()
    (lifetime,) = (each for each in indexes.values() if "expireAfterSeconds" in each)
    assert (lifetime["key"], lifetime["expireAfterSeconds"]) == ([("delete_at", 1)], 0)
