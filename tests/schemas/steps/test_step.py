"""Steps: those that Farhand can do, and what is said of the others."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.steps.step import Step, why_cannot_run

TYPE: dict[str, Any] = {"operation": "keyboard.type"}
PICTURE = "a" * 64


@pytest.mark.parametrize(
    "step",
    [
        {"operation": "mouse.click", "body": {"x": 640, "y": 360, "modifiers": ["ctrl"]}},
        {"operation": "mouse.drag", "body": {"start_x": 1, "start_y": 2, "to_x": 3, "to_y": 4}},
        {"operation": "mouse.scroll", "body": {"direction": "down", "amount": 3}},
        {"operation": "keyboard.key", "body": {"text": "ctrl+a"}, "after_ms": 120},
        {"operation": "wait", "body": {"seconds": 1.5}},
        {"operation": "wait_for", "body": {"any": [{"still": 0.5}], "timeout": 20}},
        {**TYPE, "body": {"text": "{{ literally }}"}},
        {**TYPE, "body": {"text": "No. {{n}}"}, "parameters": {"n": {"type": "integer"}}},
        {**TYPE, "body": {}, "secret": "password", "picture": None},
        {
            "operation": "mouse.click",
            "body": {"x": 640, "y": 360},
            "name": "Save",
            "by": {"token_name": "an", "through": "hand"},
            "command_id": "3f0c6a52-8d2f-4b57-9f41-6f1f0e4a7c10",
            "picture": PICTURE,
            "picture_after": None,
            "target": {
                "element": {"role": "push button", "name": "Save", "window": "Invoice"},
                "box": {"x": 600, "y": 340, "width": 80, "height": 40},
                "crop": {
                    "picture": PICTURE,
                    "area": {"x": 560, "y": 280, "width": 160, "height": 160},
                },
                "display": 0,
            },
            "expect": {"any": [{"changed": True}]},
        },
    ],
)
def test_step_of_farhand_can_run_and_is_stored_as_it_was_said(step: dict[str, Any]) -> None:
    assert why_cannot_run(step) is None
    stored = Step.model_validate(step).stored()
    assert stored.keys() == step.keys()
    assert Step.model_validate(stored).stored() == stored


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"action": "click", "x": 1, "y": 2}, "It is not Farhand's: its operation is none of"),
        ({"operation": ["click"]}, "It is not Farhand's: its operation is none of"),
        ({"operation": "mouse.click"}, "body: Field required."),
        ({"operation": "mouse.click", "body": {"x": 1}}, "body: x and y belong together"),
        ({"operation": "mouse.move", "body": {"x": 1, "y": "2"}}, "body.y: "),
        ({"operation": "wait", "body": {"seconds": 1}, "retries": 3}, "retries: "),
        ({"operation": "gap", "body": {"reason": "The machine went away."}},
         "Something may be missing here: The machine went away."),
        ({**TYPE, "body": {"text": "x"}, "parameters": {"b": {}}}, "b is a parameter that"),
        ({**TYPE, "body": {"text": "{{a}}{{b}}"}, "parameters": {"a": {}}}, "b stands in the text"),
        ({**TYPE, "body": {"text": "{{a"}, "parameters": {"a": {}}}, "character 1 begins no"),
        ({**TYPE, "body": {"text": "x"}, "secret": "s"}, "a secret's step has neither"),
        ({"operation": "keyboard.key", "body": {"text": "{{a}}"}, "parameters": {"a": {}}},
         "only the text of keyboard.type, clipboard.write, element.set_value can be"),
        ({**TYPE, "body": {"text": "{{a}}"}, "parameters": {"a": {"example": "a\n"}}},
         "parameters.a: its example has a tab"),
    ],
)  # fmt: skip
def test_of_every_other_is_said_why_it_cannot_run(step: dict[str, Any], why: str) -> None:
    assert (why_cannot_run(step) or "").startswith(why)


def test_what_is_wrong_with_a_body_is_said_at_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        Step.model_validate({"operation": "mouse.click", "body": {"x": 1, "y": 2, "clicks": 9}})
    assert [error["loc"] for error in caught.value.errors()] == [("body", "clicks")]
