"""What a killed node has begun to change is not locked for long."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from server.store.mongodb import abandoned, transactions
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import Session, in_transaction
from tests.store import there


@asynccontextmanager
async def left_open(database: Database, name: str = "once") -> AsyncIterator[Session]:
    """A transaction that has changed something, and that nobody goes on with."""
    things = database.collection("things")
    await things.insert_one({"_id": name, "by": "nobody"})
    async with await database.session() as session:
        session.start_transaction()
        await things.update_one({"_id": name}, {"$set": {"by": "first"}}, session=session)
        yield session


async def change(database: Database) -> str:
    """Change the same, and read it."""
    things = database.collection("things")

    async def work(session: Session) -> None:
        await things.update_one({"_id": "once"}, {"$set": {"by": "second"}}, session=session)

    await in_transaction(database, work)
    return str(there(await things.find_one({"_id": "once"}))["by"])


@pytest.fixture(autouse=True)
def in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits for long."""
    monkeypatch.setattr(abandoned, "ABANDONED_SECONDS", 0.2)
    monkeypatch.setattr(transactions, "PATIENCE_SECONDS", 0.1)


async def test_what_was_left_open_is_ended_for_whoever_meets_it(database: Database) -> None:
    async with left_open(database) as session:
        assert await change(database) == "second"
        with pytest.raises(OperationFailure) as refused:
            await session.commit_transaction()
        # As after any that met another one, its node begins anew, if it lives.
        assert refused.value.has_error_label("TransientTransactionError")
    assert await change(database) == "second"


async def test_others_on_the_same_mongodb_are_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abandoned, "ABANDONED_SECONDS", 0.0)
    async with left_open(database) as session:
        assert await abandoned.end_abandoned(database._client, "farhand another-database") == 0
        await session.commit_transaction()
    async with left_open(database, "twice"):
        assert await abandoned.end_abandoned(database._client, database._application) == 1


async def test_where_mongodb_refuses_to_tell_they_are_left_to_it(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    refused: Any = {"$regex": "("}
    assert await abandoned.end_abandoned(database._client, refused) == 0
    assert "are not ended" in caplog.text
