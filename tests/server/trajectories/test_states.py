from itertools import product
from typing import Any

import pytest

from server.trajectories.states import refused_change, refused_steps
from tests.trajectories import change, stored

PENDING, GENERATED, APPROVED, IMPORTED = (False, False), (True, False), (True, True), (False, True)
STATES = (PENDING, GENERATED, APPROVED, IMPORTED)
ALLOWED = {
    (PENDING, GENERATED),
    (PENDING, APPROVED),
    (GENERATED, PENDING),
    (GENERATED, APPROVED),
    (APPROVED, GENERATED),
    (APPROVED, PENDING),
    (IMPORTED, PENDING),
    (IMPORTED, GENERATED),
    (IMPORTED, APPROVED),
    *((state, state) for state in STATES),
}


@pytest.mark.parametrize(("before", "after"), product(STATES, STATES))
def test_both_flags_at_once_change_as_the_table_says(
    before: tuple[bool, bool], after: tuple[bool, bool]
) -> None:
    trajectory = stored(is_generated=before[0], is_approved=before[1])
    refusal = refused_change(trajectory, change(is_generated=after[0], is_approved=after[1]))
    assert (refusal is None) == ((before, after) in ALLOWED), refusal


@pytest.mark.parametrize(
    ("before", "fields", "words"),
    [
        (PENDING, {"is_approved": True}, "only what is generated can be approved"),
        (APPROVED, {"is_generated": False}, "withdraw the approval"),
    ],
)
def test_refusal_says_what_to_do(
    before: tuple[bool, bool], fields: dict[str, Any], words: str
) -> None:
    trajectory = stored(is_generated=before[0], is_approved=before[1])
    assert words in (refused_change(trajectory, change(**fields)) or "")


@pytest.mark.parametrize("state", STATES)
def test_what_is_no_state_changes_in_every_state(state: tuple[bool, bool]) -> None:
    trajectory = stored(is_generated=state[0], is_approved=state[1])
    fields: dict[str, Any] = {
        "name": "n",
        "description": None,
        "run_id": None,
        "original_input_values": {},
    }
    assert refused_change(trajectory, change(**fields)) is None


def test_nothing_becomes_generated_without_a_step_and_what_was_kept_so_may_stay() -> None:
    empty = stored(is_generated=False, step_count=0)
    assert "no step" in (refused_change(empty, change(is_generated=True)) or "")
    assert refused_change(stored(step_count=0), change(is_generated=True)) is None


@pytest.mark.parametrize("state", STATES)
def test_steps_are_appended_only_to_what_is_pending(state: tuple[bool, bool]) -> None:
    refusal = refused_steps(stored(is_generated=state[0], is_approved=state[1]))
    assert (refusal is None) == (state in (PENDING, IMPORTED))
    if refusal:
        assert ("approval" in refusal) == state[1]
