"""The list index: in every snapshot each trajectory is marked or indexed, never both or neither."""

import asyncio
from random import Random
from typing import Any
from uuid import UUID

import pytest
from pymongo.errors import OperationFailure

from schemas.resources.trajectories import ChangedTrajectory, TrajectoryQuery
from server.errors import NotFound, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.trajectories import counts as trajectory_counts
from server.store.trajectories import indexer as trajectory_indexer
from server.store.trajectories.counted_list import NEWEST_FIRST, CountedList
from server.store.trajectories.indexer import TrajectoryIndexer, entry_of
from server.store.trajectories.listing import trajectory_filter
from server.store.trajectories.marks import OpenBatches, is_new
from server.store.trajectories.matches import TrajectoryMatches
from server.store.trajectories.search import MAX_INDEXED_CHARACTERS
from server.tasks import Tasks
from tests.store import ORGANIZATION, opened, there
from tests.trajectories import TrajectoryLibrary, imported

EVERYTHING = TrajectoryQuery(is_generated=None)


async def documents(database: Database, name: str) -> list[Document]:
    return await database.collection(name).find({}).to_list(None)


async def check(database: Database) -> None:
    """Compare, in one snapshot, what is known of the trajectories with the trajectories."""
    wanted = trajectory_filter(ORGANIZATION, EVERYTHING)
    async with database.snapshot() as session:
        cursor = database.collection("trajectories").find(wanted, session=session)
        there_are = [document async for document in cursor]
        cursor = database.collection("trajectory_entries").find({}, session=session)
        entries = {entry["_id"]: entry async for entry in cursor}
        segments = [entry.pop("segment") for entry in entries.values()]
        assert all(0 <= segment <= len(entries) for segment in segments)
        known = set(await OpenBatches(database).marks(session))
        assert await CountedList(database, session, wanted, NEWEST_FIRST).total() == len(there_are)
        found = TrajectoryMatches(database, session, wanted, "-4", NEWEST_FIRST)
        assert await found.total() == len(there_are)
    indexed = [each for each in there_are if not is_new(each) or each["unindexed"] in known]
    assert entries == {each["_id"]: entry_of(each) for each in indexed}


async def test_new_and_changed_trajectories_are_indexed_once(database: Database) -> None:
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    made = await library.create(ORGANIZATION, None, imported(name="Before"))
    await check(database)
    assert (await indexer.index_some(), await indexer.index_some()) == (1, 0)
    await check(database)
    await library.change(ORGANIZATION, made.id, ChangedTrajectory(name="After"))
    (entry,) = await documents(database, "trajectory_entries")
    assert "after" in entry["search"]
    await check(database)
    await library.delete(ORGANIZATION, made.id)
    assert await documents(database, "trajectory_entries") == []
    await check(database)


async def test_too_long_texts_are_counted_and_go_on_to_be_read_through(database: Database) -> None:
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    long = imported(description="x" * MAX_INDEXED_CHARACTERS)
    made = await library.create(ORGANIZATION, None, long)
    await indexer.index_all()
    (document,) = await documents(database, "trajectories")
    assert document["unindexed"] == "long"
    (entry,) = await documents(database, "trajectory_entries")
    assert (entry["search"], entry["suffixes"]) == (None, [])
    await library.change(ORGANIZATION, made.id, ChangedTrajectory(description=None))
    await check(database)
    ((document,), (entry,)) = (
        await documents(database, "trajectories"),
        await documents(database, "trajectory_entries"),
    )
    assert (document["unindexed"], entry["search"]) == (None, document["search"])
    await library.delete(ORGANIZATION, made.id)
    assert await CountedTotal(database).now() == 0


class CountedTotal:
    """What the counts say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self) -> int:
        async with self._database.snapshot() as session:
            wanted = trajectory_filter(ORGANIZATION, EVERYTHING)
            return await CountedList(self._database, session, wanted, NEWEST_FIRST).total()


class Writer:
    """Makes, changes and deletes trajectories, as one of several."""

    def __init__(self, library: TrajectoryLibrary, seed: int) -> None:
        self._library = library
        self._random = Random(seed)
        self._ids: list[UUID] = []

    async def run(self, times: int) -> None:
        for number in range(times):
            what = self._random.random()
            if what < 0.5 or not self._ids:
                line = imported(name=f"n{number}", created_at=f"2024-01-{number % 28 + 1:02}")
                self._ids.append((await self._library.create(ORGANIZATION, None, line)).id)
                continue
            own = self._random.choice(self._ids)
            if what < 0.8:
                fields: Any = {"name": f"m{number}", "is_approved": self._random.random() < 0.5}
                change = ChangedTrajectory.model_validate(fields)
                await self._library.change(ORGANIZATION, own, change)
            else:
                self._ids.remove(own)
                await self._library.delete(ORGANIZATION, own)


async def test_a_batch_ends_where_its_entries_have_many_keys(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    for _ in range(5):
        await library.create(ORGANIZATION, None, imported())
    # An id alone has more than twenty keys.
    monkeypatch.setattr(trajectory_indexer, "MAX_KEYS", 20)
    assert await indexer.index_some() == 1
    await check(database)
    monkeypatch.setattr(trajectory_indexer, "MAX_KEYS", 10_000)
    assert [await indexer.index_some() for _ in range(2)] == [4, 0]
    await check(database)


async def test_a_batch_that_meets_a_change_is_tried_again_as_a_small_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_indexer, "SMALL_BATCH", 2)
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    for _ in range(5):
        await library.create(ORGANIZATION, None, imported())
    # What the driver raises where another transaction has changed one of the batch.
    met = OperationFailure("met", 112, {"errorLabels": ["TransientTransactionError"]})
    add, conflicts = indexer._counts.add, iter([met])

    async def meeting_a_change(session: Any, trajectories: Any) -> list[bytes]:
        for conflict in conflicts:
            raise conflict
        return await add(session, trajectories)

    monkeypatch.setattr(indexer._counts, "add", meeting_a_change)
    assert [await indexer.index_some() for _ in range(3)] == [5, 3, 0]
    await check(database)


@pytest.mark.timeout(120)
async def test_every_snapshot_is_right_while_all_write_and_those_who_index_are_killed(
    mongodb: str, database_name: str
) -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(trajectory_counts, "MAX_BUCKET", 8)
    patch.setattr(trajectory_indexer, "BATCH", 7)
    patch.setattr(trajectory_indexer, "POLL_SECONDS", 0.001)
    try:
        async with opened(mongodb, database_name, timeout=30.0) as database:
            library = TrajectoryLibrary(database)
            tasks = Tasks()
            writers = [tasks.start(Writer(library, seed).run(60), "write") for seed in range(4)]
            random, checks = Random(1), 0
            while not all(writer.done() for writer in writers):
                nodes = [tasks.start(TrajectoryIndexer(database).run(), node) for node in "ab"]
                await asyncio.sleep(random.uniform(0, 0.05))
                await check(database)
                checks += 1
                for node in nodes:
                    node.cancel()
                await asyncio.wait(nodes)
            await asyncio.gather(*writers)
            assert checks > 5
            await TrajectoryIndexer(database).index_all()
            await check(database)
            assert {each["unindexed"] for each in await documents(database, "trajectories")} == {
                None
            }
    finally:
        patch.undo()


async def test_indexing_goes_on_after_a_failure(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_indexer, "_PAUSE_AFTER_FAILURE_SECONDS", 0.001)
    monkeypatch.setattr(trajectory_indexer, "POLL_SECONDS", 0.001)
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    index_some, failures = indexer.index_some, iter([StoreUnavailable("no primary")])

    async def failing_once() -> int:
        for failure in failures:
            raise failure
        return await index_some()

    monkeypatch.setattr(indexer, "index_some", failing_once)
    running = Tasks().start(indexer.run(), "index")
    await library.create(ORGANIZATION, None, imported())
    async with asyncio.timeout(20):
        while not await documents(database, "trajectory_entries"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    running.cancel()


async def test_a_trajectory_that_is_gone_is_unindexed_by_nobody(
    database: Database, library: TrajectoryLibrary
) -> None:
    made = await library.create(ORGANIZATION, None, imported())
    await TrajectoryIndexer(database).index_all()
    await library.delete(ORGANIZATION, made.id)
    with pytest.raises(NotFound):
        await library.delete(ORGANIZATION, made.id)
    assert await CountedTotal(database).now() == 0
    assert there(await database.collection("trajectory_counts").find_one({}))
