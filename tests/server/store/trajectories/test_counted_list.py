"""Lists without a search: what the database does for each."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations
from typing import Any, get_args
from uuid import UUID

import pytest

from schemas.resources.trajectories import TrajectoryQuery, TrajectorySort
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.trajectories import counted_list
from server.store.trajectories import counts as trajectory_counts
from server.store.trajectories.counted_list import CountedList, Order
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.listing import TrajectoryListing, trajectory_filter
from tests.conftest import EmptiedDatabases
from tests.store import ORGANIZATION, opened
from tests.trajectories import WORKFLOW, TrajectoryLibrary, imported, listed

START = datetime(2024, 1, 1, tzinfo=UTC)
SIZE = 600
RUN = UUID(int=5)
FILTERS = {
    "search": "needle",
    "workflow_id": str(WORKFLOW),
    "run_id": str(RUN),
    "is_approved": "true",
    "is_generated": "null",
    "created_at_from": (START + timedelta(minutes=30)).isoformat(),
    "created_at_to": (START + timedelta(minutes=500)).isoformat(),
    "updated_at_from": START.isoformat(),
}


class Profiled:
    """What MongoDB has done since the last look, by its own account."""

    def __init__(self, database: Database) -> None:
        self._profile = database.collection("system.profile")
        self._database = self._profile.database
        self._seen = 0

    async def begin(self) -> None:
        await self._database.command({"profile": 0})
        await self._profile.drop()
        await self._database.create_collection("system.profile", capped=True, size=64 << 20)
        await self._database.command({"profile": 2})
        self._seen = 0

    async def operations(self) -> list[Document]:
        # The batches are read whole: there are two at a time.
        of_lists = {"ns": {"$regex": "[.]trajector(?!y_batches)"}}
        in_order = self._profile.find(of_lists).sort("$natural", 1)
        operations: list[Document] = await in_order.skip(self._seen).to_list(None)
        self._seen += len(operations)
        return operations


@pytest.fixture(scope="module")
def filled_database(mongodb: str, emptied_databases: EmptiedDatabases) -> Iterator[str]:
    """The name of a database of some hundred trajectories, which no test changes.

    Most of them are in the indexer, in buckets of a hundred.
    """
    name = emptied_databases.take()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trajectory_counts, "MAX_BUCKET", 100)
        asyncio.run(fill(mongodb, name))
    yield name
    emptied_databases.give_back(name)


async def fill(mongodb: str, name: str) -> None:
    async with opened(mongodb, name) as database:
        trajectories = TrajectoryLibrary(database)
        for number in range(SIZE):
            fields: dict[str, Any] = {
                "name": f"{'needle' if number % 50 == 0 else 'hay'} {number}",
                "created_at": (START + timedelta(minutes=number)).isoformat(),
                "is_approved": number % 3 == 0,
            }
            if number % 4:
                fields["workflow_id"] = str(UUID(int=number % 4))
            if number % 20 == 0:
                fields["run_id"] = str(RUN)
            await trajectories.create(ORGANIZATION, None, imported(**fields))
            if number == SIZE - 10:
                await TrajectoryIndexer(database).index_all()


def filter_combinations() -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(FILTERS, count) for count in range(len(FILTERS) + 1))


@pytest.fixture
def buckets_of_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory_counts, "MAX_BUCKET", 100)
    monkeypatch.setattr(counted_list, "MAX_BUCKET", 100)


async def page(database: Database, **query: str) -> tuple[int, int]:
    """The total, and how many there are on the page."""
    listing = await TrajectoryListing.open(
        database, ORGANIZATION, TrajectoryQuery.model_validate(query)
    )
    return listing.total, len(await listed(listing))


@pytest.mark.timeout(180)
@pytest.mark.usefixtures("buckets_of_a_hundred")
@pytest.mark.parametrize("sort", get_args(TrajectorySort))
async def test_every_combination_of_filters_is_on_an_index_in_every_order(
    mongodb: str, filled_database: str, sort: str
) -> None:
    async with opened(mongodb, filled_database) as database:
        profiled = Profiled(database)
        await profiled.begin()
        for names in filter_combinations():
            query = {name: FILTERS[name] for name in names}
            total, found = await page(database, limit="20", sort=sort, **query)
            operations = await profiled.operations()
            assert operations
            for operation in operations:
                assert "COLLSCAN" not in operation["planSummary"], (names, operation)
                if "search" not in names:
                    assert not operation.get("hasSortStage"), (names, operation)
            # The page itself: what it reads is what it returns, or what one filter leaves over.
            read = sum(each.get("docsExamined", 0) for each in operations)
            assert read <= max(6 * total, 4 * found, 40) + 40, (names, total, found, read)


@pytest.mark.usefixtures("buckets_of_a_hundred")
@pytest.mark.parametrize("sort", ["-created_at", "created_at"])
@pytest.mark.parametrize("more", [{}, {"workflow_id": str(WORKFLOW)}, {"is_approved": "true"}])
async def test_a_deep_page_does_not_read_what_it_skips(
    mongodb: str, filled_database: str, more: dict[str, str], sort: str
) -> None:
    async with opened(mongodb, filled_database) as database:
        profiled = Profiled(database)
        total, _ = await page(database, **more)
        await profiled.begin()
        deep = {"skip": str(total - 20), "limit": "10", "sort": sort}
        assert await page(database, **deep, **more) == (total, 10)
        operations = await profiled.operations()
        assert sum(each.get("keysExamined", 0) for each in operations) < 300
        assert sum(each.get("docsExamined", 0) for each in operations) < 120


@pytest.mark.parametrize("sort", get_args(TrajectorySort))
@pytest.mark.parametrize("more", [{}, {"workflow_id": str(WORKFLOW)}])
async def test_no_order_sorts_in_memory_or_reads_what_it_skips(
    mongodb: str, filled_database: str, more: dict[str, str], sort: str
) -> None:
    async with opened(mongodb, filled_database) as database:
        wanted = TrajectoryQuery.model_validate({"sort": sort, **more})
        async with database.snapshot() as session:
            order = Order.of(wanted.sort)
            found = trajectory_filter(ORGANIZATION, wanted)
            listed_here = CountedList(database, session, found, order)
            total = await listed_here.total()
            (selection,) = await listed_here.page(total - 20, 10)
        cursor = database.collection("trajectories").find(
            selection.filter,
            sort=order.sort,
            skip=selection.skip,
            limit=selection.limit,
            hint=selection.hint,
        )
        plan = await cursor.explain()
        assert not {"SORT", "COLLSCAN"} & set(stages(plan["queryPlanner"]["winningPlan"]))
        read = plan["executionStats"]
        assert (read["nReturned"], read["totalDocsExamined"]) == (10, 10)
        assert read["totalKeysExamined"] <= total + 10


def stages(plan: Document) -> Iterator[str]:
    """What MongoDB does, step by step."""
    yield plan["stage"]
    for below in (*plan.get("inputStages", ()), plan.get("inputStage")):
        if below:
            yield from stages(below)


async def test_a_page_behind_the_end_asks_for_nothing(database: Database) -> None:
    await TrajectoryLibrary(database).create(ORGANIZATION, None, imported())
    assert await page(database, skip="1") == (1, 0)
    assert await page(database, skip=str(2**63 - 1)) == (1, 0)
    assert await page(database, created_at_to="9999-12-31T23:59:59.999999Z") == (1, 1)
    assert await page(database, created_at_from="9999-12-31T23:59:59.999999Z") == (0, 0)
