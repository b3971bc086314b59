"""Batches: all of them in order, the next one read meanwhile only where that is allowed."""

import asyncio
from contextlib import aclosing

import pytest

from server.store.mongodb.database import Database
from server.store.mongodb.reading_ahead import batches_read_ahead


async def filled(database: Database) -> None:
    await database.collection("things").insert_many([{"_id": number} for number in range(25)])


@pytest.mark.parametrize("may_read_ahead", [False, True])
async def test_batches_come_in_order(database: Database, may_read_ahead: bool) -> None:
    await filled(database)
    cursor = database.collection("things").find().sort("_id", 1).batch_size(10)
    batches = batches_read_ahead(database, cursor, lambda _: may_read_ahead)
    numbers = [[each["_id"] for each in batch] async for batch in batches]
    assert numbers == [list(range(10)), list(range(10, 20)), list(range(20, 25))]


@pytest.mark.parametrize("may_read_ahead", [False, True])
async def test_the_next_batch_is_read_while_one_is_worked_with(
    database: Database, may_read_ahead: bool
) -> None:
    await filled(database)
    operations: list[float] = []
    cursor = database.collection("things").find().batch_size(10)
    database.on_operation = operations.append
    async with aclosing(batches_read_ahead(database, cursor, lambda _: may_read_ahead)) as batches:
        assert len(await anext(batches)) == 10
        await database.tasks.wait(20)
        assert len(operations) == 1 + may_read_ahead


async def test_who_stops_in_the_middle_leaves_nothing_behind(database: Database) -> None:
    await filled(database)
    cursor = database.collection("things").find().batch_size(10)
    batches = batches_read_ahead(database, cursor, lambda _: True)
    assert len(await anext(batches)) == 10
    await batches.aclose()
    assert await database.batch(cursor) == []
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "read ahead"]
