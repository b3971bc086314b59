"""Anthropic's table; what it comes to on a desktop is seen in tests/end_to_end/test_models.py."""

import pytest

from farhand._models import phrases
from farhand._models.anthropic_actions import ACTIONS
from farhand._models.steps import step_of
from schemas.inputs.actions import Actions
from tests.end_to_end.vendor_cases import ANTHROPIC, Case


@pytest.mark.parametrize("case", [case for turn in ANTHROPIC for case in turn])
def test_server_takes_each(case: Case) -> None:
    step = step_of(ACTIONS, case.name, case.given)
    assert step.refusal is None
    if step.actions:
        Actions.model_validate({"actions": step.actions})


def test_all_of_them_are_tried_on_a_desktop() -> None:
    assert {case.name for turn in ANTHROPIC for case in turn} == set(ACTIONS)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("left_click", {"coordinate": [1]}),
        ("left_click", {"coordinate": 5}),
        ("left_click_drag", {"coordinate": [1, 2]}),
        ("scroll", {"coordinate": [1, 2]}),
        ("zoom", {"region": [1, 2, 3]}),
        ("key", {}),
        ("key", {"text": 7}),
    ],
)
def test_values_that_say_nothing_are_refused(name: str, given: dict[str, object]) -> None:
    assert step_of(ACTIONS, name, given).refusal == phrases.UNUSABLE


@pytest.mark.parametrize(
    ("name", "given", "fields"),
    [
        ("hold_key", {"text": "a", "duration": 3}, {"text": "a", "hold": 3}),
        ("key", {"text": "a", "repeat": 3}, {"text": "a", "repeat": 3}),
        ("wait", {"duration": 3}, {"seconds": 3}),
    ],
)
def test_times(name: str, given: dict[str, object], fields: dict[str, object]) -> None:
    (action,) = step_of(ACTIONS, name, given).actions
    action.pop("operation")
    assert action == fields


def test_no_time_is_no_wait() -> None:
    assert step_of(ACTIONS, "wait", {"duration": 0}).actions == ()
