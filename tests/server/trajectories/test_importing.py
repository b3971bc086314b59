"""Many at once: each is stored once, whatever others do meanwhile."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.resources.trajectories import ImportedTrajectory
from server.errors import AlreadyExists, StoreError, TooLarge
from server.store.mongodb.database import Database
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.store import TrajectoryStore
from server.trajectories.importing import ImportOutcome, TrajectoryImport
from tests.store import ORGANIZATION, OTHER_ORGANIZATION
from tests.trajectories import EDITOR, TrajectoryLibrary, imported

IMPORTED, THERE_ALREADY = ImportOutcome.IMPORTED, ImportOutcome.THERE_ALREADY


class Importing:
    """The import into one database."""

    def __init__(self, database: Database) -> None:
        self.library = TrajectoryLibrary(database)
        self.subject = TrajectoryImport(self.library.store)

    async def add(
        self, given: Sequence[ImportedTrajectory], *, may_read: bool = True
    ) -> list[ImportOutcome]:
        """What became of each, in the order in which they are given."""
        by_id = {each.id or uuid4(): each for each in given}
        found = await self.subject.add(ORGANIZATION, EDITOR, by_id, may_read=may_read)
        return [found[own] for own in by_id]


def some(count: int) -> list[ImportedTrajectory]:
    return [imported(id=str(uuid4()), name=f"number {number}") for number in range(count)]


async def test_all_are_stored_at_once_and_once(database: Database) -> None:
    importing, given = Importing(database), some(40)
    assert await importing.add(given[:30]) == [IMPORTED] * 30
    assert await importing.add(given) == [*[THERE_ALREADY] * 30, *[IMPORTED] * 10]
    assert await importing.add([]) == []
    other = given[0].model_copy(update={"name": "another"})
    assert await importing.add([other]) == [ImportOutcome.ANOTHER_IS_THERE]
    assert await importing.add([other], may_read=False) == [ImportOutcome.ID_IS_TAKEN]
    found = await importing.library.get(OTHER_ORGANIZATION, given[0].id or uuid4())
    assert found is None


async def test_they_are_found_and_counted_as_any_others(database: Database) -> None:
    importing, given = Importing(database), some(70)
    await importing.add(given)
    marks = await database.collection("trajectories").distinct("unindexed")
    assert len(marks) == 70
    assert all(mark.startswith("new") for mark in marks)


async def test_what_the_database_says_of_each_is_its_outcome(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing, given = Importing(database), some(3)
    reasons = [TooLarge("too large"), StoreError("refused")]

    async def refuse(_: Any, made: Sequence[StoredTrajectory]) -> dict[UUID, StoreError]:
        return {each.id: reason for each, reason in zip(made, reasons, strict=False)}

    monkeypatch.setattr(TrajectoryStore, "insert_many", refuse)
    expected = [ImportOutcome.TOO_LARGE, ImportOutcome.FAILED, IMPORTED]
    assert await importing.add(given) == expected


async def test_one_that_is_never_there_when_it_is_compared_is_given_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing, given = Importing(database), some(2)

    async def taken(_: Any, made: Sequence[StoredTrajectory]) -> dict[UUID, StoreError]:
        return {made[0].id: AlreadyExists("It exists already.")}

    monkeypatch.setattr(TrajectoryStore, "insert_many", taken)
    assert await importing.add(given) == [ImportOutcome.FAILED, IMPORTED]


async def test_one_that_is_deleted_before_it_is_compared_is_stored(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing, given = Importing(database), some(3)
    await importing.add(given[:2])
    store, own = importing.library.store, given[1].id or uuid4()
    get_many = store.get_many

    async def after_deletion(
        organization_id: UUID, ids: Iterable[UUID]
    ) -> AsyncGenerator[StoredTrajectory, None]:
        monkeypatch.undo()
        await importing.library.delete(ORGANIZATION, own)
        async for each in get_many(organization_id, ids):
            yield each

    monkeypatch.setattr(store, "get_many", after_deletion)
    assert await importing.add(given) == [THERE_ALREADY, IMPORTED, IMPORTED]
    assert await importing.library.get(ORGANIZATION, own) is not None
