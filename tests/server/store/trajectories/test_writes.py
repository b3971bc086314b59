"""Trajectories that outgrow their documents: whole or not at all, with no part left behind."""

import asyncio
import json
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from schemas.resources.trajectories import ChangedTrajectory
from schemas.values.json_texts import JsonObjects
from server.errors import StoreUnavailable, TooLarge
from server.store.mongodb.database import Database
from server.store.retrying import always, retry
from server.store.trajectories import writes
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.writes import OpenTrajectory
from server.store.transactions import Transaction
from server.trajectories.rendering import trajectory_chunks
from tests.store import ORGANIZATION, collected, there
from tests.trajectories import EDITOR, TrajectoryLibrary, imported

MEBIBYTE = 1024 * 1024


class GrowingTrajectories:
    """The trajectories of one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.library = TrajectoryLibrary(database)

    async def made(self, **fields: Any) -> UUID:
        new = imported(**{"trajectory_data": [], "is_generated": False, **fields})
        create = partial(self.library.create, ORGANIZATION, None, new)
        # A large one does not fit into the database's cache while others fill it.
        return (await retry(create, is_worthwhile=always)).id

    async def append(self, own: UUID, *steps: Any, versions: Any = None) -> StoredTrajectory:
        given = JsonObjects.of(list(steps))

        async def work(transaction: Transaction) -> StoredTrajectory:
            opened = await transaction.trajectories.open(ORGANIZATION, own, versions)
            return await opened.append(given)

        return await self.library.transactions.run(work)

    async def get(self, own: UUID) -> StoredTrajectory:
        return there(await self.library.get(ORGANIZATION, own))

    async def steps(self, own: UUID) -> list[Any]:
        text = b"".join(
            await collected(trajectory_chunks(self.library.store.parts, await self.get(own)))
        )
        steps: list[Any] = json.loads(text)["trajectory_data"]
        assert (await self.get(own)).step_count == len(steps)
        return steps

    async def stray_parts(self) -> int:
        """How many parts no trajectory knows of."""
        known = 0
        async for document in self.database.collection("trajectories").find({}):
            known += sum(segment["parts"] for segment in document.get("segments", ()))
        return await self.database.collection("trajectory_parts").count_documents({}) - known


def large(number: int) -> dict[str, Any]:
    return {"number": number, "picture": "x" * (MEBIBYTE // 2)}


@pytest.fixture
def growing(database: Database) -> GrowingTrajectories:
    return GrowingTrajectories(database)


async def test_small_steps_stay_in_the_document_until_they_are_too_many(
    growing: GrowingTrajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "INLINE_BYTES", 100)
    own = await growing.made()
    has_segments = []
    for number in range(24):
        head = await growing.append(own, {"number": number})
        assert head.step_count == number + 1
        has_segments.append(bool(head.segments))
    assert has_segments == sorted(has_segments)
    assert not has_segments[6]
    assert has_segments[-1]
    assert await growing.steps(own) == [{"number": number} for number in range(24)]
    assert (await growing.get(own)).inline_size <= 100
    assert await growing.stray_parts() == 0


@pytest.mark.parametrize("created", [[], None, [{"number": -1}], [large(-1)] * 20])
async def test_large_steps_follow_what_it_was_created_with(
    growing: GrowingTrajectories, created: Any
) -> None:
    own = await growing.made(trajectory_data=created)
    for number in range(5):
        await growing.append(own, large(number), {})
    numbers = [step.get("number") for step in await growing.steps(own)]
    expected = [step["number"] for step in created or ()]
    assert numbers == expected + [each for number in range(5) for each in (number, None)]


async def test_appends_at_once_are_all_kept_in_some_order(
    growing: GrowingTrajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "INLINE_BYTES", 200)
    own = await growing.made()
    heads = await asyncio.gather(*(growing.append(own, {"number": n}) for n in range(20)))
    assert sorted(head.step_count for head in heads) == list(range(1, 21))
    assert sorted(step["number"] for step in await growing.steps(own)) == list(range(20))
    assert await growing.stray_parts() == 0


@pytest.mark.parametrize("method", ["_update", "_steps_moved_out"])
async def test_append_that_fails_leaves_no_step_and_no_part(
    growing: GrowingTrajectories, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    own = await growing.made()
    await growing.append(own, large(0), large(1), large(2))
    before = await growing.get(own)
    whole = getattr(OpenTrajectory, method)

    async def fail(*arguments: Any, **named: Any) -> None:
        await whole(*arguments, **named)
        raise StoreUnavailable("The database does not answer.")

    with monkeypatch.context() as broken:
        broken.setattr(OpenTrajectory, method, fail)
        with pytest.raises(StoreUnavailable):
            await growing.append(own, large(3), large(4), large(5))
    assert await growing.get(own) == before
    assert await growing.stray_parts() == 0
    await growing.append(own, large(3))
    assert [step["number"] for step in await growing.steps(own)] == [0, 1, 2, 3]


async def test_reader_sees_the_version_that_it_began_with(growing: GrowingTrajectories) -> None:
    own = await growing.made()
    await growing.append(own, large(0), large(1), large(2))
    await growing.append(own, {"number": 3})
    reader = trajectory_chunks(growing.library.store.parts, await growing.get(own))
    text = await anext(reader) + await anext(reader)
    await growing.append(own, large(4), large(5), large(6))
    text += b"".join(await collected(reader))
    assert [step["number"] for step in json.loads(text)["trajectory_data"]] == [0, 1, 2, 3]


async def test_deletion_takes_the_parts_along_also_while_steps_are_appended(
    database: Database, growing: GrowingTrajectories
) -> None:
    own = await growing.made()
    await growing.append(own, large(0), large(1), large(2))
    await asyncio.gather(
        *(growing.append(own, large(number), large(number), large(number)) for number in range(4)),
        growing.library.delete(ORGANIZATION, own),
        return_exceptions=True,
    )
    assert await growing.library.get(ORGANIZATION, own) is None
    for name in ("trajectory_parts", "trajectory_segments"):
        assert await database.collection(name).count_documents({}) == 0


async def test_duplicates_made_while_the_original_is_deleted_are_whole_or_not_there(
    database: Database, growing: GrowingTrajectories
) -> None:
    own = await growing.made()
    await growing.append(own, large(0), large(1), large(2))

    async def duplicate() -> UUID:
        return (await growing.library.trajectories.duplicate(ORGANIZATION, EDITOR, own, None)).id

    *copies, _ = await asyncio.gather(
        *(duplicate() for _ in range(4)),
        growing.library.delete(ORGANIZATION, own),
        return_exceptions=True,
    )
    there_are = [copy for copy in copies if isinstance(copy, UUID)]
    for copy in there_are:
        assert [step["number"] for step in await growing.steps(copy)] == [0, 1, 2]
    for copy in there_are:
        await growing.library.delete(ORGANIZATION, copy)
    for name in ("trajectory_parts", "trajectory_segments"):
        assert await database.collection(name).count_documents({}) == 0


async def test_change_that_would_not_fit_the_document_moves_the_steps_out_of_it(
    growing: GrowingTrajectories,
) -> None:
    own = await growing.made(trajectory_data=[large(number) for number in range(28)])
    values = {"text": "x" * 8 * MEBIBYTE}
    change = ChangedTrajectory.model_validate({"original_input_values": values})
    after = await growing.library.change(ORGANIZATION, own, change)
    assert json.loads(after.original_input_values) == values
    assert [step["number"] for step in await growing.steps(own)] == list(range(28))


async def test_change_that_fits_no_document_is_too_large_and_changes_nothing(
    growing: GrowingTrajectories,
) -> None:
    own = await growing.made(original_input_values={"text": "x" * 14 * MEBIBYTE})
    before = await growing.get(own)
    dimensions = {"width": 1, "height": 1, "text": "x" * 3 * MEBIBYTE}
    change = ChangedTrajectory.model_validate({"dimensions": dimensions})
    with pytest.raises(TooLarge):
        await growing.library.change(ORGANIZATION, own, change)
    assert await growing.get(own) == before
