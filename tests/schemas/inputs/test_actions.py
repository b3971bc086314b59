"""Several actions: what they have in common with single inputs, and what bounds all of them."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.actions import MAX_ACTIONS, MAX_PICTURES, MAX_SECONDS, MAX_TEXT, Actions
from schemas.inputs.bodies import INPUT_BODIES

CLICK = {"operation": "mouse.click"}
EXAMPLES: dict[str, dict[str, Any]] = {
    "mouse.move": {"x": 1, "y": 2},
    "mouse.click": {"clicks": 2},
    "mouse.drag": {"start_x": 1, "start_y": 2, "to_x": 3, "to_y": 4, "duration": 1.5},
    "mouse.scroll": {"direction": "up", "amount": 3},
    "keyboard.key": {"text": "ctrl+a"},
    "keyboard.type": {"text": "ñandú"},
    "clipboard.write": {"text": "a"},
    "element.invoke": {"element": {"role": "push button"}},
    "element.set_value": {"element": {"name": "Total"}, "value": 3},
    "element.focus": {"element": {"ref": "r"}},
}


def actions(*each: Any, **fields: Any) -> Actions:
    return Actions.model_validate({"actions": each, **fields})


@pytest.mark.parametrize("operation", INPUT_BODIES)
def test_every_input_is_an_action_with_its_own_fields(operation: str) -> None:
    fields = EXAMPLES[operation]
    (action,) = actions({"operation": operation, **fields}).actions
    single = INPUT_BODIES[operation].model_validate(fields)  # type: ignore[index]
    assert action.model_dump() == {"operation": operation, **single.model_dump()}
    assert action.own_seconds == single.own_seconds


def test_what_was_validated_is_read_again_as_the_same() -> None:
    """The machine reads what the server has written."""
    body = actions(
        *({"operation": name, **fields} for name, fields in EXAMPLES.items()),
        {"operation": "wait", "seconds": 1},
        {"operation": "wait_for", "any": [{"still": 0.5}, {"changed": True}]},
        {"operation": "screenshot", "format": "jpeg"},
        screenshot={"settle": 1},
    )
    assert Actions.model_validate(body.model_dump()) == body
    assert Actions.model_validate_json(body.model_dump_json()) == body


def test_their_time_is_all_of_them_and_what_the_screen_has_to_settle() -> None:
    body = actions(
        {"operation": "wait", "seconds": 3},
        {"operation": "mouse.drag", **EXAMPLES["mouse.drag"]},
        {"operation": "wait_for", "any": [{"still": 1}], "timeout": 20},
        {"operation": "screenshot"},
        screenshot={"settle": 0.5},
    )
    assert body.own_seconds == 3 + 1.5 + 20 + 2.5


@pytest.mark.parametrize(
    "each",
    [
        [CLICK] * MAX_ACTIONS,
        [{"operation": "keyboard.type", "text": "a" * MAX_TEXT}],
        [{"operation": "wait", "seconds": MAX_SECONDS}],
        [{"operation": "screenshot"}] * MAX_PICTURES,
    ],
)
def test_as_much_as_may_be_is_taken_and_one_more_is_not(each: list[dict[str, Any]]) -> None:
    actions(*each)
    more = {"operation": "wait", "seconds": 0.1} if "seconds" in each[0] else each[0]
    with pytest.raises(ValidationError):
        actions(*each, more)


@pytest.mark.parametrize(
    ("each", "screenshot", "looks", "copies"),
    [
        (CLICK, None, False, False),
        (CLICK, {}, True, False),
        ({"operation": "screenshot"}, None, True, False),
        ({"operation": "wait_for", "any": [{"changed": True}]}, None, True, False),
        ({"operation": "clipboard.write", "text": "a"}, None, False, True),
    ],
)
def test_they_say_what_else_is_needed(
    each: dict[str, Any], screenshot: Any, looks: bool, copies: bool
) -> None:
    body = actions(CLICK, each, screenshot=screenshot)
    assert (body.looks, body.copies) == (looks, copies)
