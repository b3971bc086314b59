"""Editing of single steps: the others keep their text, however large they are."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.http.queries import PageQuery
from schemas.steps.changes import ChangedStep
from schemas.values.json_encoding import encode_json
from schemas.values.json_texts import JsonObjects
from server.errors import StoreUnavailable, WrongState
from server.store.mongodb.database import Database
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.pictures import PictureStore
from server.trajectories.contents import with_hashes
from server.trajectories.editing import (
    MOST_AT_ONCE,
    MOST_EDITED_BYTES,
    StepEditing,
    step_texts,
)
from tests.store import ORGANIZATION, there
from tests.trajectories import EDITOR, TrajectoryLibrary, imported
from tests.waiting import WAIT_SECONDS

TYPE = {"operation": "keyboard.type", "body": {"text": "a"}}
LARGE = {**TYPE, "picture_text": "x" * 600_000}

OBJECTS = st.lists(
    st.dictionaries(st.text(max_size=3), st.text('[]{}",\\ ', max_size=5) | st.integers())
)


@given(steps=OBJECTS)
def test_steps_are_taken_apart_where_they_end(steps: list[dict[str, Any]]) -> None:
    texts = [encode_json(step).decode() for step in steps]
    assert asyncio.run(step_texts(",".join(texts))) == texts


class Editing:
    """Edits one trajectory."""

    def __init__(self, database: Database) -> None:
        self.library = TrajectoryLibrary(database)
        self.subject = StepEditing(
            self.library.store, PictureStore(database), self.library.transactions
        )

    async def made(self, *steps: Any, **fields: Any) -> StoredTrajectory:
        """A new one with these steps."""
        new = imported(trajectory_data=[*steps], **fields)
        return await self.library.create(ORGANIZATION, None, new)

    async def now(self, made: StoredTrajectory) -> tuple[StoredTrajectory, list[Any]]:
        """It as it is stored, and its steps."""
        stored = there(await self.library.get(ORGANIZATION, made.id))
        page = PageQuery.model_validate({"limit": "1000"})
        _, chunks = await self.subject.page(ORGANIZATION, made.id, page)
        answer = json.loads(b"".join([chunk async for chunk in chunks]))
        assert answer["total"] == len(answer["items"]) == stored.step_count
        assert [each["number"] for each in answer["items"]] == [*range(1, stored.step_count + 1)]
        return stored, [each["step"] for each in answer["items"]]


@pytest.fixture
def editing(database: Database) -> Editing:
    return Editing(database)


async def test_steps_are_inserted_changed_and_removed(editing: Editing) -> None:
    made = await editing.made({"n": 10**40}, TYPE)
    inserted = JsonObjects.of([{"b": 1}, {"c": 2}])
    await editing.subject.insert(ORGANIZATION, EDITOR, made.id, inserted, 2)
    change = ChangedStep(name="Type")
    await editing.subject.change(ORGANIZATION, EDITOR, made.id, 4, change)
    await editing.subject.remove(ORGANIZATION, EDITOR, made.id, 2)
    stored, steps = await editing.now(made)
    assert steps == [{"n": 10**40}, {"c": 2}, {**TYPE, "name": "Type"}]
    assert stored.content_hash == with_hashes(stored).content_hash != made.content_hash


async def test_steps_that_outgrew_the_document_are_edited_and_their_parts_go(
    editing: Editing,
) -> None:
    made = await editing.made(TYPE, is_generated=False)
    for _ in range(3):
        more = JsonObjects.of([LARGE])
        await editing.library.trajectories.append(ORGANIZATION, EDITOR, made.id, more)
    copy = await editing.library.trajectories.duplicate(ORGANIZATION, EDITOR, made.id, None)
    await editing.subject.remove(ORGANIZATION, EDITOR, made.id, 1)
    stored, steps = await editing.now(made)
    assert stored.segments
    assert steps == [LARGE] * 3
    for _ in range(2):
        await editing.subject.remove(ORGANIZATION, EDITOR, made.id, 1)
    stored, steps = await editing.now(made)
    assert (stored.segments, stored.own_segment, steps) == ((), None, [LARGE])
    again = JsonObjects.of([TYPE])
    await editing.library.trajectories.append(ORGANIZATION, EDITOR, made.id, again)
    assert (await editing.now(made))[1] == [LARGE, TYPE]
    # The copy has what it shared, and only that is left when both are gone.
    kept = there(await editing.library.get(ORGANIZATION, copy.id))
    assert (await editing.now(kept))[1] == [TYPE, LARGE, LARGE, LARGE]
    for each in (made, kept):
        await editing.library.delete(ORGANIZATION, each.id)
    database = editing.library.database
    assert await database.collection("trajectory_parts").count_documents({}) == 0
    assert await database.collection("trajectory_segments").count_documents({}) == 0


async def test_edits_at_once_all_happen(editing: Editing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.trajectories.editing.LONGEST_WAIT_SECONDS", WAIT_SECONDS)
    made = await editing.made(*({"n": number} for number in range(10)))
    await asyncio.gather(
        *(
            editing.subject.remove(ORGANIZATION, EDITOR, made.id, 1)
            if number % 2
            else editing.subject.insert(ORGANIZATION, EDITOR, made.id, JsonObjects.of([{}, {}]), 1)
            for number in range(8)
        )
    )
    stored, steps = await editing.now(made)
    assert len(steps) == 14
    assert stored.content_hash == with_hashes(stored).content_hash


async def test_few_have_all_steps_in_memory_and_who_waits_too_long_is_told(
    editing: Editing, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await editing.made(TYPE)
    monkeypatch.setattr("server.trajectories.editing.LONGEST_WAIT_SECONDS", 0.01)
    async with AsyncExitStack() as stack:
        for _ in range(MOST_AT_ONCE):
            await stack.enter_async_context(editing.subject._one_of_few())
        with pytest.raises(StoreUnavailable, match="at once"):
            await editing.subject.get(ORGANIZATION, made.id, 1)
    await editing.subject.get(ORGANIZATION, made.id, 1)


async def test_what_is_too_long_is_not_edited(editing: Editing) -> None:
    made = await editing.made(TYPE)
    steps = JsonObjects.of([{"x": "x" * MOST_EDITED_BYTES}])
    with pytest.raises(WrongState, match=f"may have {MOST_EDITED_BYTES}"):
        await editing.subject.insert(ORGANIZATION, EDITOR, made.id, steps, 1)
    assert (await editing.now(made))[1] == [TYPE]
