"""The digests of long trajectories, whose steps outgrew their documents."""

import hashlib
import json
from uuid import UUID

import pytest

from schemas.values.json_texts import JsonObjects
from server.errors import WrongState
from server.store.mongodb.database import Database
from server.trajectories.contents import with_hashes
from server.trajectories.digests import StepsDigests
from tests.store import ORGANIZATION, there
from tests.trajectories import EDITOR, TrajectoryLibrary, change, imported, stored

LARGE = {"text": "x" * 700_000}


async def test_long_one_has_the_hash_that_its_text_has(database: Database) -> None:
    library = TrajectoryLibrary(database)
    made = await library.create(
        ORGANIZATION, None, imported(trajectory_data=[], is_generated=False)
    )
    steps = [{"n": 1}, LARGE, LARGE, {"n": 2}]
    for step in steps:
        await library.trajectories.append(ORGANIZATION, EDITOR, made.id, JsonObjects.of([step]))
    assert there(await library.get(ORGANIZATION, made.id)).content_hash is None
    after = await library.change(ORGANIZATION, made.id, change(is_generated=True))
    assert after.segments
    text = json.dumps(steps, separators=(",", ":")).encode()[1:-1]
    assert after.steps_digest == hashlib.sha256(text).digest()
    whole = stored(workflow_id=made.workflow_id, dimensions=made.dimensions,
                   trajectory_data=b"[" + text + b"]")  # fmt: skip
    assert after.content_hash == with_hashes(whole).content_hash
    copy = await library.trajectories.duplicate(ORGANIZATION, EDITOR, made.id, None)
    assert there(await library.get(ORGANIZATION, copy.id)).content_hash == after.content_hash
    pending = await library.change(ORGANIZATION, made.id, change(is_generated=False))
    assert (pending.steps_digest, pending.content_hash) == (None, None)


async def test_what_grows_all_the_time_is_not_waited_for(database: Database) -> None:
    library = TrajectoryLibrary(database)
    made = await library.create(
        ORGANIZATION, None, imported(trajectory_data=[], is_generated=False)
    )
    digests = StepsDigests(library.store.parts)

    async def grown() -> bytes:
        steps = JsonObjects.of([LARGE, LARGE])
        await library.trajectories.append(ORGANIZATION, EDITOR, made.id, steps)
        return digests.of(there(await library.get(ORGANIZATION, made.id)))

    with pytest.raises(WrongState, match="still appended"):
        await digests.known_for(grown)


def test_steps_in_the_document_need_no_reading(database: Database) -> None:
    digests = StepsDigests(TrajectoryLibrary(database).store.parts)
    one = stored(id=UUID(int=4), pieces=(b'{"n":2}',))
    assert digests.of(one) == hashlib.sha256(b'{"n":1},{"n":2}').digest()
