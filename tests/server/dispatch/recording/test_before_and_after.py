"""Which inputs may change a text, and which change nothing at all."""

from typing import Any

import pytest

from schemas.inputs.actions import Actions
from schemas.inputs.bodies import INPUT_BODIES, Operation
from server.dispatch.recording.before_and_after import changes_texts, is_quiet

FIELD = {"role": "entry", "name": "Order"}
TYPE = {"operation": "keyboard.type", "text": "x"}
TAB = {"operation": "keyboard.key", "text": "tab"}


@pytest.mark.parametrize(
    ("operation", "body", "texts"),
    [
        ("keyboard.type", {"text": "x"}, 1),
        ("keyboard.key", {"text": "x"}, 1),
        ("keyboard.key", {"text": "backspace"}, 1),
        ("keyboard.key", {"text": "ctrl+v"}, 1),
        ("keyboard.key", {"text": "tab shift+tab enter"}, 0),
        ("keyboard.key", {"text": "tab ctrl+v"}, 1),
        ("keyboard.key", {"text": "x", "down": False}, 0),
        ("keyboard.key", {"text": "shift", "down": True}, 0),
        ("mouse.click", {"x": 1, "y": 1}, 0),
        ("mouse.click", {"x": 1, "y": 1, "button": "middle"}, 1),
        ("mouse.drag", {"start_x": 1, "start_y": 1, "to_x": 9, "to_y": 9}, 1),
        ("mouse.scroll", {"direction": "down", "amount": 1}, 0),
        ("element.set_value", {"element": FIELD, "value": "x"}, 1),
        ("element.focus", {"element": FIELD}, 0),
        ("clipboard.write", {"text": "x"}, 0),
    ],
)
def test_so_many_texts_an_input_may_change(
    operation: str, body: dict[str, Any], texts: int
) -> None:
    assert changes_texts(INPUT_BODIES[Operation(operation)].model_validate(body)) == texts


def test_several_actions_may_change_what_each_of_them_may() -> None:
    actions = [TYPE, {"operation": "wait", "seconds": 1}, TAB, TYPE]
    assert changes_texts(Actions.model_validate({"actions": actions})) == 2


@pytest.mark.parametrize(
    ("operation", "body", "quiet"),
    [
        ("mouse.move", {"x": 1, "y": 1}, True),
        ("keyboard.key", {"text": "x", "down": False}, True),
        ("keyboard.key", {"text": "shift", "down": True}, True),
        ("keyboard.key", {"text": "alt", "down": False}, False),
        ("keyboard.key", {"text": "x", "down": True}, False),
        ("mouse.click", {"down": False}, False),
        ("keyboard.type", {"text": "x"}, False),
    ],
)
def test_what_changes_nothing_needs_no_look(
    operation: str, body: dict[str, Any], quiet: bool
) -> None:
    assert is_quiet(INPUT_BODIES[Operation(operation)].model_validate(body)) is quiet
