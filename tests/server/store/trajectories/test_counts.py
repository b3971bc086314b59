"""Buckets: what is counted in them, and where they are cut."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.values.times import whole_milliseconds
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import in_transaction
from server.store.trajectories import counts as trajectory_counts
from server.store.trajectories.counts import (
    BEGINNING,
    END,
    STATES,
    CountedTrajectory,
    ListPartition,
    Position,
    State,
    TrajectoryCounts,
)
from server.store.trajectories.indexer import TrajectoryIndexer
from tests.store import ORGANIZATION
from tests.trajectories import WORKFLOW, TrajectoryLibrary, imported

GENERATED = State(is_generated=True, is_approved=False)
TIMES = st.datetimes(timezones=st.just(UTC)).map(whole_milliseconds)


def counted(number: int, state: State = GENERATED) -> CountedTrajectory:
    time = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=number)
    return CountedTrajectory(ORGANIZATION, WORKFLOW, Position.of(time, UUID(int=number)), state)


async def sizes(
    database: Database, partition: ListPartition, states: Iterable[State] = STATES
) -> list[int]:
    async with database.snapshot() as session:
        found = await TrajectoryCounts(database).buckets(session, partition, states)
    assert [each.position for each in found] == sorted(each.position for each in found)
    return [each.size for each in found]


@given(TIMES, TIMES, st.uuids(), st.uuids())
def test_positions_sort_as_times_and_ids_do(
    one: datetime, other: datetime, first: UUID, second: UUID
) -> None:
    a, b = Position.of(one, first), Position.of(other, second)
    assert (a < b) == ((one, first.bytes) < (other, second.bytes))
    assert (a.created_at, b.created_at) == (one, other)
    assert BEGINNING <= a < END


async def test_a_trajectory_counts_in_its_organization_and_its_workflow(database: Database) -> None:
    counts = TrajectoryCounts(database)
    approved = State(is_generated=True, is_approved=True)
    given = [counted(1), counted(2), counted(3, approved)]
    await in_transaction(database, lambda session: counts.add(session, given))
    for partition in (ListPartition(ORGANIZATION), ListPartition(ORGANIZATION, WORKFLOW)):
        assert await sizes(database, partition) == [3]
        assert await sizes(database, partition, [approved]) == [1]
    assert await sizes(database, ListPartition(ORGANIZATION, UUID(int=1))) == []
    await in_transaction(database, lambda session: counts.remove(session, counted(2)))
    assert await sizes(database, ListPartition(ORGANIZATION)) == [2]


async def test_a_large_bucket_is_cut_and_an_empty_one_goes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_counts, "MAX_BUCKET", 4)
    library, indexer = TrajectoryLibrary(database), TrajectoryIndexer(database)
    made = []
    for day in range(1, 10):
        line = imported(created_at=f"2024-01-0{day}T00:00:00Z")
        made.append(await library.create(ORGANIZATION, None, line))
    await indexer.index_all()
    partition = ListPartition(ORGANIZATION)
    assert await sizes(database, partition) == [4, 5]
    await library.create(ORGANIZATION, None, imported())
    await indexer.index_all()
    assert await sizes(database, partition) == [4, 3, 3]
    for each in made[4:7]:
        await library.delete(ORGANIZATION, each.id)
    assert await sizes(database, partition) == [4, 3]
    for each in made[:4]:
        await library.delete(ORGANIZATION, each.id)
    # The first stays: what comes before everything else has to be somewhere.
    assert await sizes(database, partition) == [0, 3]
