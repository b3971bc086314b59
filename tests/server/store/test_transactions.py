from datetime import timedelta
from typing import Any

import pytest

from server.errors import KeyReused, WrongState
from server.store.idempotency import KeyedRequest
from server.store.mongodb.database import Database
from server.store.transactions import Transaction, Transactions
from server.trajectories.creation import new_trajectory
from tests.store import ORGANIZATION
from tests.trajectories import EDITOR, TrajectoryLibrary, imported

REQUEST = KeyedRequest(ORGANIZATION, "k", "f")


async def count(database: Database) -> int:
    return await database.collection("trajectories").count_documents({})


async def insert(transaction: Transaction) -> dict[str, Any]:
    new = new_trajectory(ORGANIZATION, EDITOR, imported())
    await transaction.trajectories.insert(new)
    return {"id": new.id}


async def insert_and_refuse(transaction: Transaction) -> dict[str, Any]:
    await insert(transaction)
    raise WrongState("not now")


async def test_what_is_raised_leaves_nothing_behind(database: Database) -> None:
    transactions = Transactions(database, key_lifetime=timedelta(hours=1))
    with pytest.raises(WrongState):
        await transactions.run(insert_and_refuse)
    with pytest.raises(WrongState):
        await transactions.run_once(REQUEST, insert_and_refuse)
    assert await count(database) == 0
    await transactions.run(insert)
    assert await count(database) == 1


async def test_under_a_key_it_is_done_once(database: Database) -> None:
    transactions = Transactions(database, key_lifetime=timedelta(hours=1))
    first, is_replayed = await transactions.run_once(REQUEST, insert)
    assert not is_replayed
    assert await transactions.run_once(REQUEST, insert) == (first, True)
    with pytest.raises(KeyReused):
        await transactions.run_once(KeyedRequest(ORGANIZATION, "k", "g"), insert)
    assert await count(database) == 1
    await transactions.run_once(None, insert)
    assert await count(database) == 2


async def test_all_of_a_transaction_sees_what_it_wrote_and_nobody_else_does(
    database: Database, library: TrajectoryLibrary
) -> None:

    async def work(transaction: Transaction) -> None:
        own = (await insert(transaction))["id"]
        assert (await transaction.trajectories.get(ORGANIZATION, own)).id == own
        assert await library.get(ORGANIZATION, own) is None

    await library.transactions.run(work)
    assert await count(database) == 1
