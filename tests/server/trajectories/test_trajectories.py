"""The operations on trajectories with a real database, and the answers as JSON."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.resources.trajectories import (
    ChangedTrajectory,
    NewTrajectory,
    TrajectoryWithIncluded,
)
from schemas.values.json_texts import JsonObjects
from server.errors import AlreadyExists, KeyReused, NotFound, VersionMismatch, WrongState
from server.store.idempotency import KeyedRequest
from server.store.mongodb.database import Database
from server.store.trajectories.store import TrajectoryStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, there
from tests.trajectories import EDITOR, WORKFLOW, TrajectoryLibrary, imported

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["$set", "a.b", "", "\0", "$", "_id", "__proto__"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


async def test_trajectory_comes_back_with_every_field(database: Database) -> None:
    library, user = TrajectoryLibrary(database), uuid4()
    body = NewTrajectory.model_validate(
        {
            "workflow_id": WORKFLOW,
            "dimensions": {"height": 3, "width": 2, "scale": 1.0},
            "trajectory_data": [{"a": 1}, {}],
            "name": "n",
            "description": "d",
            "run_id": uuid4(),
            "original_input_values": {"k": None},
            "is_approved": True,
        }
    )
    made, _ = await library.trajectories.create(
        ORGANIZATION, EDITOR.model_copy(update={"user_id": user}), body
    )
    assert await library.trajectories.get(OTHER_ORGANIZATION, made.id) is None
    found = there(await library.trajectories.get(ORGANIZATION, made.id))
    assert (found.tag, found.whole()) == (made.tag, made.whole())
    answer = json.loads(found.whole())
    TrajectoryWithIncluded.model_validate(answer)
    assert answer == {
        "id": str(made.id),
        "workflow_id": str(WORKFLOW),
        "is_approved": True,
        "has_been_approved": True,
        "is_generated": True,
        "is_main": False,
        "dimensions": {"height": 3, "width": 2, "scale": 1.0},
        "created_at": answer["created_at"],
        "updated_at": answer["created_at"],
        "name": "n",
        "description": "d",
        "run_id": str(body.run_id),
        "content_hash": answer["content_hash"],
        "review": {
            "state": "open",
            "by": None,
            "at": None,
            "comment": None,
            "content_hash": None,
        },
        "user_id": str(user),
        "organization_id": str(ORGANIZATION),
        "machine_id": None,
        "pictures_until": None,
        "pictures_expired_at": None,
        "step_count": 2,
        "trajectory_data": [{"a": 1}, {}],
        "original_input_values": {"k": None},
    }


async def test_what_was_not_given_is_null_and_what_follows_from_it(database: Database) -> None:
    made, _ = await TrajectoryLibrary(database).trajectories.create(
        ORGANIZATION, EDITOR, imported(trajectory_data=None)
    )
    answer = json.loads(made.whole())
    for field in ("name", "description", "run_id", "user_id", "trajectory_data"):
        assert answer[field] is None
    assert answer["original_input_values"] == {}
    assert not answer["is_generated"]
    assert "included" not in answer


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(OBJECTS, max_size=3), inputs=OBJECTS)
@async_test
async def test_any_json_comes_back_exactly(
    mongodb: str, database_name: str, steps: list[Any], inputs: dict[str, Any]
) -> None:
    # Without the indexes, which are not the matter here: every example has a loop of its own.
    with closing(Database(mongodb, database_name)) as database:
        library = TrajectoryLibrary(database)
        made, _ = await library.trajectories.create(
            ORGANIZATION, EDITOR, imported(trajectory_data=steps, original_input_values=inputs)
        )
        answer = json.loads(there(await library.trajectories.get(ORGANIZATION, made.id)).whole())
        # As text: 1 and 1.0 and True are equal in Python, and the order of keys counts too.
        assert json.dumps(answer["trajectory_data"]) == json.dumps(steps)
        assert json.dumps(answer["original_input_values"]) == json.dumps(inputs)


async def test_imported_trajectory_keeps_its_id_and_times(database: Database) -> None:
    library, same = TrajectoryLibrary(database), uuid4()
    line = imported(
        id=str(same), created_at="2020-01-02T03:04:05.6789", updated_at="2021-01-01T00:00:00Z"
    )
    made, _ = await library.trajectories.create(ORGANIZATION, EDITOR, line)
    answer = json.loads(made.whole())
    assert answer["id"] == str(same)
    assert answer["created_at"] == "2020-01-02T03:04:05.678Z"
    assert answer["updated_at"] == "2021-01-01T00:00:00.000Z"
    with pytest.raises(AlreadyExists):
        await library.trajectories.create(ORGANIZATION, EDITOR, line)
    await library.trajectories.create(OTHER_ORGANIZATION, EDITOR, line)


async def test_of_two_main_trajectories_made_at_once_both_are_made_and_one_is_main(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, both_have_looked = TrajectoryLibrary(database), asyncio.Barrier(2)
    look = TrajectoryStore.mains
    looks = 0

    async def look_together(
        self: TrajectoryStore, organization_id: UUID, workflow_ids: Iterable[UUID]
    ) -> set[UUID]:
        nonlocal looks
        looks += 1
        found = await look(self, organization_id, workflow_ids)
        if looks <= 2:
            await both_have_looked.wait()
        return found

    monkeypatch.setattr(TrajectoryStore, "mains", look_together)
    made = await asyncio.gather(
        *(
            library.trajectories.create(ORGANIZATION, EDITOR, imported(is_main=True))
            for _ in range(2)
        )
    )
    assert sorted(json.loads(each.whole())["is_main"] for each, _ in made) == [False, True]
    # A taken id is said as one, also of what would be the main one.
    taken = imported(id=str(made[0][0].id), is_main=True, workflow_id=str(uuid4()))
    with pytest.raises(AlreadyExists):
        await library.trajectories.create(ORGANIZATION, EDITOR, taken)


async def test_workflow_of_one_trajectory_is_part_of_its_answer_and_of_its_tag(
    library: TrajectoryLibrary,
) -> None:
    workflow = await library.create_workflow(ORGANIZATION, "w")
    for workflow_id, names in ((workflow.id, ["w"]), (uuid4(), [])):
        new = imported(workflow_id=str(workflow_id))
        made, _ = await library.trajectories.create(ORGANIZATION, EDITOR, new)
        found = there(await library.trajectories.get(ORGANIZATION, made.id, with_workflow=True))
        assert [one["name"] for one in json.loads(found.whole())["included"]] == names
        assert found.tag != made.tag


def keyed(fingerprint: str = "f") -> KeyedRequest:
    return KeyedRequest(ORGANIZATION, "k", fingerprint)


async def test_creation_under_a_key_is_done_once(database: Database) -> None:
    trajectories = TrajectoryLibrary(database).trajectories
    first, is_replayed = await trajectories.create(ORGANIZATION, EDITOR, imported(), keyed())
    assert not is_replayed
    again, is_replayed = await trajectories.create(ORGANIZATION, EDITOR, imported(), keyed())
    assert is_replayed
    assert (again.id, again.tag, again.whole()) == (first.id, first.tag, first.whole())
    with pytest.raises(KeyReused):
        await trajectories.create(ORGANIZATION, EDITOR, imported(), keyed("g"))
    assert await database.collection("trajectories").count_documents({}) == 1


async def test_appending_and_duplicating_under_a_key_are_done_once(database: Database) -> None:
    trajectories = TrajectoryLibrary(database).trajectories
    new = imported(trajectory_data=[{}], is_generated=False)
    made, _ = await trajectories.create(ORGANIZATION, EDITOR, new)
    steps, request = JsonObjects.of([{}]), KeyedRequest(ORGANIZATION, "append", "f")
    heads = [
        await trajectories.append(ORGANIZATION, EDITOR, made.id, steps, request=request)
        for _ in range(2)
    ]
    assert [head.is_replayed for head in heads] == [False, True]
    assert heads[0] == replace(heads[1], is_replayed=False)
    assert json.loads(heads[0].body)["step_count"] == 2
    copies = [
        await trajectories.duplicate(ORGANIZATION, EDITOR, made.id, None, keyed()) for _ in range(2)
    ]
    assert [copy.is_replayed for copy in copies] == [False, True]
    assert copies[0].id == copies[1].id != made.id
    assert await database.collection("trajectories").count_documents({}) == 2


async def test_what_the_state_does_not_allow_changes_nothing(library: TrajectoryLibrary) -> None:
    made = await library.create(ORGANIZATION, None, imported(is_approved=True))
    change = ChangedTrajectory.model_validate({"is_generated": False, "name": "n"})
    with pytest.raises(WrongState, match="withdraw the approval"):
        await library.change(ORGANIZATION, made.id, change)
    with pytest.raises(WrongState, match="only while it is pending"):
        await library.trajectories.append(ORGANIZATION, EDITOR, made.id, JsonObjects.of([{}]))
    assert await library.get(ORGANIZATION, made.id) == made


async def test_changes_and_deletions_are_of_the_version_that_was_asked_for(
    library: TrajectoryLibrary,
) -> None:
    made = await library.create(ORGANIZATION, None, imported())
    other, change = {made.version + 1}, ChangedTrajectory(name="n")
    with pytest.raises(VersionMismatch):
        await library.trajectories.change(ORGANIZATION, EDITOR, made.id, change, other)
    with pytest.raises(VersionMismatch):
        await library.trajectories.delete(ORGANIZATION, made.id, other)
    assert await library.get(ORGANIZATION, made.id) == made
    await library.trajectories.change(ORGANIZATION, EDITOR, made.id, change, {made.version})
    await library.trajectories.delete(ORGANIZATION, made.id, other)
    with pytest.raises(NotFound):
        await library.trajectories.delete(ORGANIZATION, made.id)


async def test_latest_is_of_the_workflow(database: Database) -> None:
    trajectories = TrajectoryLibrary(database).trajectories
    assert await trajectories.latest(ORGANIZATION, WORKFLOW) is None
    made, _ = await trajectories.create(ORGANIZATION, EDITOR, imported())
    latest = there(await trajectories.latest(ORGANIZATION, WORKFLOW))
    assert latest.whole() == made.whole()
