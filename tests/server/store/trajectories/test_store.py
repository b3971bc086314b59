from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from schemas.resources.trajectories import LatestTrajectory
from server.errors import AlreadyExists, TooLarge
from server.store.mongodb.database import Database
from server.trajectories.rendering import render_trajectory
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, collected, there
from tests.trajectories import WORKFLOW, TrajectoryLibrary, imported, numbered, stored


async def test_trajectory_is_stored_once_and_seen_by_its_organization_only(
    database: Database,
) -> None:
    store, made = TrajectoryLibrary(database).store, stored()
    await store.insert(made)
    assert await store.get(ORGANIZATION, made.id) == made
    assert await store.get(OTHER_ORGANIZATION, made.id) is None
    with pytest.raises(AlreadyExists):
        await store.insert(made)


@pytest.mark.parametrize("beyond", [0, 20_000, 1_000_000])
async def test_more_than_a_document_is_too_large(
    database: Database, library: TrajectoryLibrary, beyond: int
) -> None:
    text = "x" * (16 * 1024 * 1024 - 100 + beyond)
    with pytest.raises(TooLarge):
        await library.create(ORGANIZATION, None, imported(trajectory_data=[{"t": text}]))
    assert await database.collection("trajectories").count_documents({}) == 0


async def test_almost_a_document_is_kept(library: TrajectoryLibrary) -> None:
    text = "x" * (16 * 1024 * 1024 - 4096)
    made = await library.create(ORGANIZATION, None, imported(trajectory_data=[{"t": text}]))
    assert (await library.get(ORGANIZATION, made.id)) == made


async def test_latest_is_the_most_recently_updated_generated_one_with_steps(
    library: TrajectoryLibrary,
) -> None:
    assert await library.store.latest(ORGANIZATION, WORKFLOW) is None
    created = {"created_at": "2024-01-01T00:00:00Z"}
    lines = [
        imported(updated_at="2024-01-09", trajectory_data=[], is_generated=True, **created),
        imported(updated_at="2024-01-08", is_generated=False, **created),
        imported(updated_at="2024-01-07", workflow_id=str(uuid4()), **created),
        imported(updated_at="2024-01-03", created_at="2024-01-02"),
        imported(updated_at="2024-01-03", id=numbered(1), created_at="2024-01-03"),
        imported(updated_at="2024-01-03", id=numbered(2), created_at="2024-01-03"),
    ]
    for line in lines:
        await library.create(ORGANIZATION, None, line)
    latest = there(await library.store.latest(ORGANIZATION, WORKFLOW))
    assert str(latest.id) == numbered(2)
    LatestTrajectory.model_validate_json(render_trajectory(latest))
    assert await library.store.latest(OTHER_ORGANIZATION, WORKFLOW) is None


async def test_of_many_those_are_stored_that_can_be(database: Database) -> None:
    store = TrajectoryLibrary(database).store
    many = [stored(id=UUID(int=number), name=str(number)) for number in range(40)]
    long = stored(id=UUID(int=50), trajectory_data=b'["%s"]' % (b"x" * 16 * 1024 * 1024))
    await store.insert(replace(many[3], name="there before"))
    refused = await store.insert_many([long, *many])
    assert {own: type(why) for own, why in refused.items()} == {
        long.id: TooLarge,
        many[3].id: AlreadyExists,
    }
    assert (
        refused.keys() | {each.id for each in many}
        == (await store.insert_many([long, *many])).keys()
    )
    assert await store.insert_many([]) == {}
    ids = [long.id, *(each.id for each in many)]
    found = await collected(store.get_many(ORGANIZATION, ids))
    expected = [replace(each, name="there before") if each == many[3] else each for each in many]
    assert sorted(found, key=lambda each: each.id) == expected
    assert await collected(store.get_many(OTHER_ORGANIZATION, ids)) == []
