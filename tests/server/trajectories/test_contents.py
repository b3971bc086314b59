"""The hash of a content: the same for the same, and another for whatever a run would use."""

from typing import Any
from uuid import UUID

import pytest

from server.trajectories.contents import (
    changed_hashes,
    content_hash,
    is_other_content,
    with_hashes,
)
from tests.trajectories import stored

HASHED = with_hashes(stored())


def test_same_content_has_the_same_hash_however_its_steps_came() -> None:
    assert HASHED.content_hash == content_hash(HASHED, HASHED.steps_digest)
    grown = stored(
        id=UUID(int=8), name="n", trajectory_data=b"[]", pieces=(b'{"n":1}',), user_id=UUID(int=1)
    )
    assert with_hashes(grown).content_hash == HASHED.content_hash


@pytest.mark.parametrize(
    "fields",
    [
        {"workflow_id": UUID(int=9)},
        {"dimensions": b'{"width":1,"height":3}'},
        {"original_input_values": b'{"a":1}'},
        {"trajectory_data": b'[{"n":2}]'},
        {"trajectory_data": b'[{"n":1},{}]'},
        # What is moved from one part to the next makes another one.
        {"dimensions": b'{"width":1,"height":2}{', "original_input_values": b"}"},
    ],
)
def test_other_content_has_another_hash(fields: dict[str, Any]) -> None:
    assert with_hashes(stored(**fields)).content_hash != HASHED.content_hash


def test_what_is_pending_has_none() -> None:
    pending = with_hashes(stored(is_generated=False))
    assert (pending.steps_digest, pending.content_hash) == (None, None)
    assert content_hash(pending, None) is None


def test_hashes_change_with_the_fields_that_they_are_of() -> None:
    assert changed_hashes(HASHED, {"name": "n"}, None) == {}
    other = changed_hashes(HASHED, {"dimensions": b"{}"}, None)
    assert other.keys() == {"content_hash"}
    gone = changed_hashes(HASHED, {"is_generated": False}, None)
    assert gone == {"steps_digest": None, "content_hash": None}
    pending = stored(is_generated=False)
    back = changed_hashes(pending, {"is_generated": True}, HASHED.steps_digest)
    assert back["content_hash"] == HASHED.content_hash


def test_only_another_value_is_another_content() -> None:
    assert not is_other_content(HASHED, {"dimensions": HASHED.dimensions, "name": "n"})
    assert is_other_content(HASHED, {"workflow_id": UUID(int=9)})
