"""How many inputs machines were sent; that the audit counts each once is in test_audit.py."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import uuid4

import pytest
from pymongo import WriteConcern

from server.store.machines import input_counts
from server.store.machines.documents import ClientSummary, LinkFacts
from server.store.machines.input_counts import EndedInput, InputCount, InputCountStore
from server.store.machines.machines import MachineStore
from server.store.mongodb import transactions
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import in_transaction
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, opened

NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)


def ended(minutes: int = 0, machine_id: str = "desk-1", *, completed: bool = True) -> EndedInput:
    """An input that was accepted so many minutes after the first."""
    return EndedInput(ORGANIZATION, machine_id, completed, NOW + timedelta(minutes=minutes))


async def add(database: Database, *inputs: EndedInput) -> None:
    """Count them."""
    counts = InputCountStore(database)
    await in_transaction(database, lambda session: counts.add(session, inputs))


async def test_counts_of_several_machines_are_read_together(database: Database) -> None:
    for number in range(12):  # over all shards
        await add(database, ended(number), ended(completed=False), ended(machine_id="desk-2"))
    await add(database)
    counts = InputCountStore(database)
    assert await counts.of(ORGANIZATION, ["desk-1", "desk-2", "desk-3"]) == {
        "desk-1": InputCount(12, 12, NOW + timedelta(minutes=11)),
        "desk-2": InputCount(12, 0, NOW),
        "desk-3": InputCount(),
    }
    assert await counts.of(OTHER_ORGANIZATION, ["desk-1"]) == {"desk-1": InputCount()}
    assert await counts.of(ORGANIZATION, []) == {}


async def test_input_that_is_counted_late_is_not_the_last(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_counts, "SHARDS", 1)
    await add(database, ended(5))
    await add(database, ended(2))
    counted = await InputCountStore(database).of(ORGANIZATION, ["desk-1"])
    assert counted["desk-1"].last_at == NOW + timedelta(minutes=5)


async def test_writers_at_once_lose_nothing(database: Database) -> None:
    await asyncio.gather(*(add(database, ended()) for _ in range(20)))
    counted = await InputCountStore(database).of(ORGANIZATION, ["desk-1"])
    assert counted["desk-1"].completed == 20


async def test_server_that_died_in_the_middle_holds_up_nothing(
    mongodb: str, database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MongoDB keeps what a dead server's transaction wrote locked for a minute."""
    # Nor does anybody end it, however long a busy host takes for the others.
    monkeypatch.setattr(transactions, "PATIENCE_SECONDS", 3600.0)
    async with opened(mongodb, database_name, timeout=30) as database:
        machines, counts = MachineStore(database), InputCountStore(database)
        await machines.create(ORGANIZATION, "desk-1", "desk-1")
        for _ in range(20):
            await add(database, ended())  # every document of the count is there
        dying = await database.session()
        dying.start_transaction(write_concern=WriteConcern("majority"))
        await counts.add(dying, [ended()])
        try:
            link = partial(machines.begin_link, ORGANIZATION, "desk-1")
            await link(ClientSummary("linux", "1.0", displays=()), LinkFacts(uuid4(), "node-1"))
            for _ in range(20):
                await add(database, ended())
            assert (await counts.of(ORGANIZATION, ["desk-1"]))["desk-1"].completed == 40
        finally:
            await dying.abort_transaction()
            await dying.end_session()


async def test_machine_that_was_removed_and_added_counts_from_zero(database: Database) -> None:
    machines, counts = MachineStore(database), InputCountStore(database)
    nothing = {"desk-1": InputCount()}
    await machines.create(ORGANIZATION, "desk-1", "desk-1")
    await add(database, ended(), ended(machine_id="desk-2"))
    await machines.delete(ORGANIZATION, "desk-1")
    assert await counts.of(ORGANIZATION, ["desk-1"]) == nothing
    await add(database, ended())  # recorded after its machine was removed
    await machines.create(ORGANIZATION, "desk-1", "desk-1")
    assert await counts.of(ORGANIZATION, ["desk-1"]) == nothing
    assert (await counts.of(ORGANIZATION, ["desk-2"]))["desk-2"].completed == 1
