"""OpenAI's table; what it comes to on a desktop is seen in tests/end_to_end/test_models.py."""

import pytest

from farhand._models import phrases
from farhand._models.openai_actions import ACTIONS, notches
from farhand._models.steps import step_of
from schemas.inputs.actions import Actions
from tests.end_to_end.vendor_cases import OPENAI, Case


@pytest.mark.parametrize("case", [case for turn in OPENAI for case in turn])
def test_server_takes_each(case: Case) -> None:
    step = step_of(ACTIONS, case.name, case.given)
    assert step.refusal is None
    if step.actions:
        Actions.model_validate({"actions": step.actions})


def test_all_of_them_are_tried_on_a_desktop() -> None:
    assert {case.name for turn in OPENAI for case in turn} == set(ACTIONS)


@pytest.mark.parametrize(
    ("pixels", "turned"), [(0, 0), (1, 1), (-1, 1), (100, 1), (249, 2), (-260, 3), (10_000, 100)]
)
def test_notches(pixels: int, turned: int) -> None:
    assert notches(pixels) == turned


@pytest.mark.parametrize(
    ("across", "along", "turns"),
    [
        (0, 0, [("down", 0)]),
        (0, -200, [("up", 2)]),
        (300, 0, [("right", 3)]),
        (-100, 100, [("down", 1), ("left", 1)]),
    ],
)
def test_scrolling(across: int, along: int, turns: list[tuple[str, int]]) -> None:
    given = {"x": 1, "y": 2, "scroll_x": across, "scroll_y": along}
    actions = step_of(ACTIONS, "scroll", given).actions
    assert [(each["direction"], each["amount"]) for each in actions] == turns
    Actions.model_validate({"actions": actions})


def test_way_of_a_drag() -> None:
    path = [{"x": place, "y": 0} for place in range(4)]
    (drag,) = step_of(ACTIONS, "drag", {"path": path}).actions
    assert (drag["start_x"], drag["to_x"]) == (0, 3)
    assert drag["path"] == path[1:3]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("drag", {"path": []}),
        ("drag", {"path": [{"x": 1, "y": 2}]}),
        ("click", {"x": 1, "y": 2, "button": "fourth"}),
        ("keypress", {"keys": [7]}),
    ],
)
def test_values_that_say_nothing_are_refused(name: str, given: dict[str, object]) -> None:
    assert step_of(ACTIONS, name, given).refusal == phrases.UNUSABLE
