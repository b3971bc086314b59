"""Marks: what is indexed is known in every snapshot, whoever ends in the middle of it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

import pytest

from schemas.resources.trajectories import ChangedTrajectory
from server.errors import StoreUnavailable
from server.store.mongodb.database import Database
from server.store.trajectories import counts as trajectory_counts
from server.store.trajectories import indexer as trajectory_indexer
from server.store.trajectories import marks as trajectory_marks
from server.store.trajectories.counts import STATES, ListPartition, TrajectoryCounts
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.marks import OpenBatches, is_new, new_mark, until_few_wait
from server.store.trajectories.search import MAX_INDEXED_CHARACTERS
from server.store.trajectories.store import TrajectoryStore
from server.tasks import Tasks
from tests.server.store.trajectories.test_indexer import check, documents
from tests.store import ORGANIZATION
from tests.trajectories import TrajectoryLibrary, imported, stored


async def nothing(_: OpenBatches, __: Any) -> None:
    """What a node does to its batch that is killed when the transaction has ended."""


async def made(library: TrajectoryLibrary, count: int) -> list[UUID]:
    """So many new trajectories, one of them with a long text."""
    texts = ["x" * MAX_INDEXED_CHARACTERS, *[None] * (count - 1)]
    lines = [imported(name="n", description=text) for text in texts]
    return [(await library.create(ORGANIZATION, None, line)).id for line in lines]


async def one_imported(database: Database) -> None:
    assert await TrajectoryStore(database).insert_many([stored()]) == {}


async def left_in_the_middle(database: Database, patch: pytest.MonkeyPatch, count: int = 3) -> Any:
    """Trajectories that are indexed, with marks that nobody has taken away: their batch."""
    with patch.context() as broken:
        broken.setattr(OpenBatches, "finish", nothing)
        await TrajectoryIndexer(database).index_some()
    (batch,) = await documents(database, "trajectory_batches")
    assert len(batch["ids"]) == count
    assert all(map(is_new, await documents(database, "trajectories")))
    return batch


async def all_indexed(database: Database) -> None:
    """Nothing is marked any more, but for what is long, and no batch is open."""
    await TrajectoryIndexer(database).index_all()
    await check(database)
    assert not any(map(is_new, await documents(database, "trajectories")))
    assert await documents(database, "trajectory_batches") == []


async def test_who_is_killed_between_indexing_and_clearing_leaves_all_exact(
    database: Database, library: TrajectoryLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(library, 3)
    await left_in_the_middle(database, monkeypatch)
    await check(database)
    # What comes now is new beside them.
    await made(library, 2)
    await check(database)
    await all_indexed(database)
    marks = [each["unindexed"] for each in await documents(database, "trajectories")]
    assert sorted(marks, key=str) == [None, None, None, "long", "long"]


async def test_half_of_the_marks_may_be_taken_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(TrajectoryLibrary(database), 4)
    batch = await left_in_the_middle(database, monkeypatch, 4)
    await database.collection("trajectories").update_one(
        {"_id": batch["ids"][0]}, {"$set": {"unindexed": batch["then"][0]}}
    )
    await check(database)
    await all_indexed(database)


Change = Callable[[TrajectoryLibrary, UUID], Coroutine[Any, Any, Any]]


async def rename(library: TrajectoryLibrary, own: UUID) -> None:
    await library.change(ORGANIZATION, own, ChangedTrajectory(name="other", is_approved=True))


async def shorten(library: TrajectoryLibrary, own: UUID) -> None:
    await library.change(ORGANIZATION, own, ChangedTrajectory(description="short"))


async def delete(library: TrajectoryLibrary, own: UUID) -> None:
    await library.delete(ORGANIZATION, own)


async def replace(library: TrajectoryLibrary, own: UUID) -> None:
    await library.delete(ORGANIZATION, own)
    await library.create(ORGANIZATION, None, imported(id=str(own), name="anew"))


CHANGES: list[Change] = [rename, shorten, delete, replace]


@pytest.mark.parametrize("change", CHANGES)
async def test_what_changes_while_its_batch_is_open_is_exact_and_cleared_by_nobody_later(
    database: Database, library: TrajectoryLibrary, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    first, *_ = await made(library, 3)
    batch = await left_in_the_middle(database, monkeypatch)
    await change(library, first)
    await check(database)
    # Of two who finish it, one comes late.
    await OpenBatches(database).finish(batch)
    await check(database)
    await all_indexed(database)
    await OpenBatches(database).finish(batch)
    await check(database)


@pytest.mark.parametrize("change", CHANGES)
async def test_what_changes_while_it_is_indexed_meets_who_indexes_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, change: Change
) -> None:
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    first, *_ = await made(library, 3)
    unindexed, changes = indexer._unindexed, iter([change])

    async def overtaken(session: Any, batch: Any) -> set[bytes]:
        # Its snapshot has the trajectory as it was, which is then changed.
        seen = await unindexed(session, batch)
        for each in changes:
            await each(library, first)
        return seen

    monkeypatch.setattr(indexer, "_unindexed", overtaken)
    await indexer.index_some()
    await check(database)
    await all_indexed(database)


async def test_two_who_index_take_each_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_indexer, "BATCH", 7)
    await made(TrajectoryLibrary(database), 40)
    indexers = [TrajectoryIndexer(database) for _ in range(2)]
    working = [Tasks().start(each.index_all(), "index") for each in indexers * 2]
    while not all(each.done() for each in working):
        await check(database)
    await asyncio.gather(*working)
    await all_indexed(database)
    assert len(await documents(database, "trajectory_entries")) == 40


async def test_a_bucket_is_cut_by_what_is_indexed_whatever_its_marks(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_counts, "MAX_BUCKET", 4)
    await made(TrajectoryLibrary(database), 6)
    await left_in_the_middle(database, monkeypatch, 6)
    async with database.snapshot() as session:
        whole = ListPartition(ORGANIZATION)
        buckets = await TrajectoryCounts(database).buckets(session, whole, STATES)
    assert [each.size for each in buckets] == [3, 3]


async def test_entries_come_one_segment_after_another_and_all_are_looked_into(
    database: Database, library: TrajectoryLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_indexer, "SEGMENT", 2)
    monkeypatch.setattr(trajectory_indexer, "BATCH", 2)
    await made(library, 6)
    await TrajectoryIndexer(database).index_all()
    (changed,) = await made(library, 1)
    await rename(library, changed)
    entries = await documents(database, "trajectory_entries")
    assert sorted(entry["segment"] for entry in entries) == [0, 0, 1, 1, 2, 2, 3]
    await check(database)


async def test_a_mark_never_comes_again(database: Database) -> None:
    await made(TrajectoryLibrary(database), 3)
    marks = {each["unindexed"] for each in await documents(database, "trajectories")}
    assert len(marks | {new_mark()["unindexed"]}) == 4


async def test_imports_wait_for_those_who_index_but_not_for_ever(
    database: Database, library: TrajectoryLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_marks, "MOST_WAITING", 2)
    monkeypatch.setattr(trajectory_marks, "MOST_SECONDS", 60.0)
    await made(library, 2)
    await until_few_wait(database)
    await made(library, 1)
    waiting = Tasks().start(until_few_wait(database), "wait")
    await asyncio.wait([waiting], timeout=0.1)
    assert not waiting.done()
    await TrajectoryIndexer(database).index_all()
    await waiting
    await made(library, 3)
    waiting = Tasks().start(one_imported(database), "import")
    await asyncio.wait([waiting], timeout=0.1)
    assert not waiting.done()
    await TrajectoryIndexer(database).index_all()
    await waiting
    await made(library, 3)
    monkeypatch.setattr(trajectory_marks, "MOST_SECONDS", 0.05)
    await until_few_wait(database)


async def test_what_cannot_be_finished_now_is_finished_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(TrajectoryLibrary(database), 2)

    async def lost(_: OpenBatches, __: Any) -> None:
        raise StoreUnavailable("no primary")

    with monkeypatch.context() as broken:
        broken.setattr(OpenBatches, "finish", lost)
        with pytest.raises(StoreUnavailable):
            await TrajectoryIndexer(database).index_some()
    await check(database)
    await all_indexed(database)
