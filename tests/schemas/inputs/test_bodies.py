from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.actions import COMMAND_BODIES
from schemas.inputs.bodies import (
    INPUT_BODIES,
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    Operation,
    TypeText,
)

DRAG = {"start_x": 0, "start_y": 0, "to_x": 1, "to_y": 1}

GOOD = [
    (Operation.MOUSE_DRAG, {**DRAG, "duration": 0}),
    (Operation.MOUSE_DRAG, {**DRAG, "duration": 60}),
    (Operation.MOUSE_DRAG, {**DRAG, "duration": None, "button": "right"}),
    (Operation.MOUSE_CLICK, {"x": 0, "y": 0}),
    (Operation.MOUSE_CLICK, {"x": None, "y": None, "down": True, "clicks": 2}),
    (Operation.MOUSE_SCROLL, {"direction": "down", "amount": 1000, "x": 1, "y": 1}),
    (Operation.MOUSE_MOVE, {"x": -(2**31), "y": 2**31 - 1}),
    (Operation.MOUSE_MOVE, {"x": 1, "y": 2, "path": [{"x": -1, "y": 0}] * 256}),
    (Operation.KEYBOARD_KEY, {"text": "ctrl+plus", "down": False}),
    (Operation.KEYBOARD_TYPE, {"text": "Dear Zoë,\r\n\t漢字 ctrl+a 😀"}),
    (Operation.KEYBOARD_TYPE, {"text": "x" * 1000}),
]

BAD = [
    (Operation.MOUSE_DRAG, {**DRAG, "duration": "1"}, "duration"),
    (Operation.MOUSE_DRAG, {**DRAG, "duration": True}, "duration"),
    (Operation.MOUSE_DRAG, {**DRAG, "duration": float("nan")}, "duration"),
    (Operation.MOUSE_DRAG, {**DRAG, "button": "LEFT"}, "button"),
    (Operation.MOUSE_CLICK, {"x": 1, "y": None}, ""),
    (Operation.MOUSE_CLICK, {"clicks": 1.0}, "clicks"),
    (Operation.MOUSE_CLICK, {"clicks": None}, "clicks"),
    (Operation.MOUSE_CLICK, {"down": "true"}, "down"),
    (Operation.MOUSE_SCROLL, {"direction": "UP", "amount": 1}, "direction"),
    (Operation.MOUSE_SCROLL, {"direction": "up", "amount": 1001}, "amount"),
    (Operation.MOUSE_SCROLL, {"direction": "up", "amount": True}, "amount"),
    (Operation.MOUSE_MOVE, {"x": -(2**31) - 1, "y": 0}, "x"),
    (Operation.MOUSE_MOVE, {"x": 0, "y": 0, "operation": "mouse.click"}, "operation"),
    (Operation.MOUSE_MOVE, {"x": 1, "y": 2, "path": [{"x": -1, "y": 0}] * 257}, "path"),
    (Operation.MOUSE_MOVE, {"x": 1, "y": 2, "path": [{"x": 1.5, "y": 0}]}, "path.0.x"),
    (Operation.MOUSE_MOVE, {"x": 1, "y": 2, "path": [{"x": 1, "y": 0, "t": 1}]}, "path.0.t"),
    (Operation.KEYBOARD_KEY, {"text": ""}, "text"),
    (Operation.KEYBOARD_KEY, {"text": "ctrl+nokey"}, "text"),
    (Operation.KEYBOARD_KEY, {"text": ["a"]}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": ""}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "x" * 1001}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "a\x1b"}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": 12}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "a", "down": True}, "down"),
]


def test_every_operation_has_its_body() -> None:
    assert set(COMMAND_BODIES) == set(Operation)
    assert all(body.input_name is name for name, body in COMMAND_BODIES.items())


@pytest.mark.parametrize(("operation", "body"), GOOD)
def test_good_body_survives_the_wire(operation: Operation, body: dict[str, Any]) -> None:
    model = INPUT_BODIES[operation]
    understood: AnyInput = model.model_validate(body)
    assert model.model_validate(understood.model_dump()) == understood
    assert model.model_validate_json(understood.model_dump_json()) == understood


@pytest.mark.parametrize(("operation", "body", "field"), BAD)
def test_bad_body_names_the_field(operation: Operation, body: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        INPUT_BODIES[operation].model_validate(body)
    (error,) = caught.value.errors()
    assert ".".join(map(str, error["loc"])) == field


def test_only_drags_with_a_duration_and_rare_characters_take_time_of_their_own() -> None:
    assert TypeText(text="plain\n").own_seconds == 0
    assert TypeText(text="漢a漢").own_seconds == 0.4
    assert DragMouse(**DRAG, duration=2.5).own_seconds == 2.5
    assert DragMouse(**DRAG).own_seconds == 0
    assert ClickMouse(clicks=3).own_seconds == 0


def test_defaults_are_those_of_the_specification() -> None:
    assert DragMouse(**DRAG).button == "left"
    click = ClickMouse()
    assert (click.x, click.y, click.button, click.down, click.clicks) == (
        None,
        None,
        "left",
        None,
        1,
    )


def test_inputs_do_not_change() -> None:
    body = MoveMouse(x=1, y=2)
    with pytest.raises(ValidationError):
        body.x = 3  # type: ignore[misc]


def test_move_without_a_path_is_sent_and_fingerprinted_as_before_there_were_paths() -> None:
    for path in (None, ()):
        move = MoveMouse(x=1, y=2, path=path)
        assert move.model_dump() == {"x": 1, "y": 2}
        assert move.model_dump_json() == '{"x":1,"y":2}'
