from datetime import UTC, datetime

import pytest

from schemas.resources.trajectories import MAX_NAME_CHARACTERS
from schemas.resources.workflows import NewWorkflow
from server.errors import WrongState
from server.store.trajectories.documents import Segment
from server.trajectories.creation import (
    changed_fields,
    duplicate_of,
    new_trajectory,
    new_workflow,
)
from tests.store import ORGANIZATION
from tests.trajectories import EDITOR, NOW, change, imported, stored


def test_version_of_an_import_is_that_of_now_whatever_its_times() -> None:
    old = new_trajectory(ORGANIZATION, EDITOR, imported(created_at="2001-01-01T00:00:00Z"))
    assert old.version > 1_700_000_000_000


def test_one_imported_time_stands_for_the_other() -> None:
    created = new_trajectory(ORGANIZATION, EDITOR, imported(created_at="2020-01-01"))
    assert created.updated_at == created.created_at == datetime(2020, 1, 1, tzinfo=UTC)
    updated = new_trajectory(ORGANIZATION, EDITOR, imported(updated_at="2020-01-01"))
    assert updated.updated_at == updated.created_at == datetime(2020, 1, 1, tzinfo=UTC)
    ahead = new_trajectory(ORGANIZATION, EDITOR, imported(updated_at="2999-01-01"))
    assert ahead.created_at < ahead.updated_at == datetime(2999, 1, 1, tzinfo=UTC)


def test_workflow_begins_with_one_time_and_a_version() -> None:
    made = new_workflow(ORGANIZATION, NewWorkflow(name="n", description="d"))
    assert (made.name, made.description, made.organization_id) == ("n", "d", ORGANIZATION)
    assert made.created_at == made.updated_at
    assert made.version > 1_700_000_000_000


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        (None, None, None),
        ("n", None, "n (copy)"),
        ("n", "m", "m"),
        ("n" * MAX_NAME_CHARACTERS, None, "n" * (MAX_NAME_CHARACTERS - 7) + " (copy)"),
    ],
)
def test_duplicate_is_another_one_with_the_same_content(
    name: str | None, given: str | None, expected: str | None
) -> None:
    segment = Segment(ORGANIZATION, 1, 9)
    original = stored(name=name, is_approved=True, segments=(segment,), own_segment=segment.id)
    copy = duplicate_of(original, EDITOR, given)
    assert copy.name == expected
    assert copy.id != original.id
    assert copy.created_at == copy.updated_at > original.created_at
    assert (copy.is_approved, copy.own_segment) == (False, None)
    assert (copy.segments, copy.trajectory_data) == (original.segments, original.trajectory_data)


def test_changed_fields_are_those_that_are_named_as_they_are_stored() -> None:
    assert changed_fields(stored(), change(), EDITOR) == {}
    assert changed_fields(stored(), change(name=None), EDITOR) == {"name": None}
    fields = changed_fields(
        stored(), change(original_input_values=None, dimensions={"width": 1, "height": 2}), EDITOR
    )
    assert fields == {"original_input_values": b"{}", "dimensions": b'{"width":1,"height":2}'}
    later = changed_fields(stored(), change(updated_at="2024-05-06T07:08:09.1239Z"), EDITOR)
    assert later == {"updated_at": NOW}


def test_nothing_is_updated_before_it_was_created() -> None:
    with pytest.raises(WrongState, match="must not be before"):
        changed_fields(stored(), change(updated_at="2024-05-06T07:08:09.122Z"), EDITOR)
