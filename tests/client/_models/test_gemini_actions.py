"""Gemini's table; what it comes to on a desktop is seen in tests/end_to_end/test_models.py."""

from typing import Any

import pytest

from farhand._models import phrases
from farhand._models.gemini_actions import ACTIONS, NOT_ON_A_DESKTOP
from farhand._models.steps import step_of
from schemas.inputs.actions import Actions
from tests.end_to_end.vendor_cases import GEMINI, Case


@pytest.mark.parametrize("case", [case for turn in GEMINI for case in turn])
def test_server_takes_each(case: Case) -> None:
    step = step_of(ACTIONS, case.name, case.given)
    assert step.refusal is None
    if step.actions:
        Actions.model_validate({"actions": step.actions})


def test_all_of_them_are_tried_on_a_desktop() -> None:
    tried = {case.name for turn in GEMINI for case in turn}
    assert tried | {"wait_5_seconds"} == set(ACTIONS)


@pytest.mark.parametrize(("name", "seconds"), [("wait_5_seconds", 5), ("wait", 1)])
def test_wait_without_a_time(name: str, seconds: float) -> None:
    (pause,) = step_of(ACTIONS, name, {}).actions
    assert pause == {"operation": "wait", "seconds": seconds}


@pytest.mark.parametrize(
    ("name", "given", "amount"),
    [
        ("scroll", {}, 3),
        ("scroll", {"magnitude_in_pixels": 820}, 8),
        ("scroll", {"magnitude_in_pixels": 10}, 1),
        ("scroll", {"magnitude_in_wheel_clicks": 5, "magnitude_in_pixels": 100}, 5),
        ("scroll_at", {}, 8),
        ("scroll_document", {}, 8),
    ],
)
def test_amount_of_a_scroll(name: str, given: dict[str, Any], amount: int) -> None:
    (scroll,) = step_of(ACTIONS, name, {"direction": "up", **given}).actions
    assert scroll["amount"] == amount


@pytest.mark.parametrize(
    ("name", "given", "operations"),
    [
        ("type", {}, ["keyboard.type"]),
        ("type", {"x": 1, "y": 2}, ["mouse.click", "keyboard.type"]),
        ("type_text_at", {"clear_before_typing": False, "press_enter": False}, ["keyboard.type"]),
        (
            "type_text_at",
            {"x": 1, "y": 2},
            ["mouse.click", "keyboard.key", "keyboard.key", "keyboard.type", "keyboard.key"],
        ),
        ("type", {"text": "", "press_enter": True}, ["keyboard.key"]),
    ],
)
def test_typing(name: str, given: dict[str, Any], operations: list[str]) -> None:
    step = step_of(ACTIONS, name, {"text": "hello", **given})
    assert [each["operation"] for each in step.actions] == operations


@pytest.mark.parametrize("name", NOT_ON_A_DESKTOP)
def test_what_only_a_browser_has_is_refused(name: str) -> None:
    assert step_of(ACTIONS, name, {"url": "x"}).refusal == phrases.NOT_AVAILABLE


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("click", {"x": 1}),
        ("scroll", {}),
        ("drag_and_drop", {"start_x": 1}),
        ("hotkey", {"keys": 7}),
    ],
)
def test_values_that_say_nothing_are_refused(name: str, given: dict[str, Any]) -> None:
    assert step_of(ACTIONS, name, given).refusal == phrases.UNUSABLE
