import asyncio
import gc
import weakref
from contextlib import suppress

import pytest
from pymongo.errors import InvalidOperation

from server.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import Session, in_transaction
from server.tasks import Tasks
from tests.processes import free_port
from tests.store import there


async def count_up(database: Database) -> int:
    """Read a number and write the next: two at once would lose one without a transaction."""
    numbers = database.collection("numbers")

    async def work(session: Session) -> int:
        found = await numbers.find_one({"_id": "n"}, session=session)
        number: int = there(found)["number"] + 1
        await numbers.update_one({"_id": "n"}, {"$set": {"number": number}}, session=session)
        return number

    return await in_transaction(database, work)


async def test_transactions_that_meet_all_happen_one_after_another(database: Database) -> None:
    await database.collection("numbers").insert_one({"_id": "n", "number": 0})
    counted = await asyncio.gather(*(count_up(database) for _ in range(16)))
    assert sorted(counted) == list(range(1, 17))


async def test_work_that_raises_leaves_nothing_behind(database: Database) -> None:
    things = database.collection("things")
    await things.insert_one({"_id": 0})

    async def work(session: Session) -> None:
        await things.insert_one({"_id": 1}, session=session)
        raise KeyError("enough")

    with pytest.raises(KeyError):
        await in_transaction(database, work)
    assert await things.count_documents({}) == 1


class Text(str):
    """One that can be watched."""

    __slots__ = ("__weakref__",)


async def test_work_that_raises_keeps_nothing_of_who_waited_for_it(database: Database) -> None:
    async def work(_session: Session) -> None:
        raise KeyError("enough")

    async def write(text: Text) -> None:
        # pytest would keep what was raised, and with it this frame.
        with suppress(KeyError):
            await in_transaction(database, work)
        assert text == "secret"

    text = Text("secret")
    watched = weakref.ref(text)
    gc.disable()
    try:
        await write(text)
        del text
        # The step of the loop that woke it up is over then.
        await asyncio.sleep(0)
        assert watched() is None
    finally:
        gc.enable()


async def test_what_the_driver_refuses_is_raised_as_our_own(database: Database) -> None:
    things = database.collection("things")
    await things.insert_one({"_id": 0})

    async def work(session: Session) -> None:
        await things.insert_one({"_id": 1}, session=session)
        await things.insert_one({"_id": 0}, session=session)

    with pytest.raises(AlreadyExists):
        await in_transaction(database, work)
    assert await things.count_documents({}) == 1


async def test_transaction_whose_caller_is_gone_goes_on_to_its_end(database: Database) -> None:
    things, has_begun = database.collection("things"), asyncio.Event()
    await things.insert_one({"_id": 0, "by": "nobody"})

    async def work(session: Session) -> None:
        await things.update_one({"_id": 0}, {"$set": {"by": "me"}}, session=session)
        has_begun.set()
        await things.update_one({"_id": 0}, {"$set": {"by": "us"}}, session=session)

    caller = Tasks().start(in_transaction(database, work), "called off")
    await has_begun.wait()
    caller.cancel()
    # What it has locked would keep others waiting for a minute, were it left where it is.
    async with asyncio.timeout(20):
        while there(await things.find_one({}))["by"] != "us":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert caller.cancelled()


async def test_transaction_that_cannot_get_through_ends_in_bounded_time(
    database: Database, mongodb: str, database_name: str
) -> None:
    # Not prepared anew: that may take longer on a busy host.
    hurried = Database(mongodb, database_name, timeout=0.4)
    things = database.collection("things")
    await things.insert_one({"_id": 0, "by": "nobody"})

    async def change(session: Session, through: Database, by: str) -> None:
        collection = through.collection("things")
        await collection.update_one({"_id": 0}, {"$set": {"by": by}}, session=session)

    async def first(session: Session) -> None:
        await change(session, database, "first")
        with pytest.raises(StoreUnavailable):
            await in_transaction(hurried, lambda other: change(other, hurried, "second"))

    await in_transaction(database, first)
    assert there(await things.find_one({}))["by"] == "first"
    await hurried.finish()


async def test_transaction_that_waits_for_a_lost_database_fails_when_the_server_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.store.mongodb.database.FINISH_SECONDS", 0.1)
    database = Database(f"mongodb://127.0.0.1:{free_port()}")
    has_begun = asyncio.Event()
    raised: list[BaseException] = []

    async def work(session: Session) -> None:
        has_begun.set()
        try:
            await database.collection("things").find({}, session=session).to_list(None)
        except BaseException as error:
            raised.append(error)
            raise

    attempt = Tasks().start(in_transaction(database, work), "lost")
    await has_begun.wait()
    await database.finish()
    with pytest.raises(StoreUnavailable):
        await attempt
    # Called off, it would leave the driver's error to nobody, and asyncio would log a traceback.
    assert [type(error) for error in raised] == [InvalidOperation]
