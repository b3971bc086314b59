import json
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.actions import COMMAND_BODIES, Actions
from schemas.inputs.bodies import (
    INPUT_BODIES,
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    Operation,
    PressKeys,
    TypeText,
)
from schemas.inputs.places import PathPoint, PictureSize, Place
from schemas.inputs.selectors import Selector
from schemas.values.validation_errors import entries_of

SAVE = {"role": "push button", "name": "Save"}
DRAG = {"start_x": 0, "start_y": 0, "to_x": 1, "to_y": 1}
IN = {"in": {"width": 10, "height": 20}}

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
    (Operation.KEYBOARD_TYPE, {"text": "x" * 10_000}),
    (Operation.KEYBOARD_TYPE, {"text": "漢" * 600 + "x" * 9400}),
    (Operation.MOUSE_DRAG, {**DRAG, "path": [{"x": 5, "y": 6}] * 256, "modifiers": ["alt"]}),
    (Operation.MOUSE_CLICK, {"button": "back", "modifiers": ["Ctrl", "shift_r", "META", "alt"]}),
    (Operation.MOUSE_CLICK, {"x": 0, "y": 99, "in": {"width": 1, "height": 100}}),
    (Operation.MOUSE_CLICK, {"modifiers": None, "in": None}),
    (Operation.MOUSE_SCROLL, {"direction": "up", "amount": 1, "modifiers": ["ctrl"]}),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 60}),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 0.6, "repeat": 100, "down": None}),
    (Operation.KEYBOARD_KEY, {"text": "ctrl+a b", "repeat": 100}),
]

ELEMENTS: list[tuple[Operation, dict[str, Any]]] = [
    (Operation.MOUSE_CLICK, {"element": SAVE}),
    (Operation.MOUSE_SCROLL, {"element": SAVE, "direction": "up", "amount": 1}),
    (Operation.MOUSE_MOVE, {"element": SAVE, "path": [{"x": 1, "y": 2}]}),
    (Operation.MOUSE_DRAG, {"start_element": SAVE, "to_element": {"text": "Bin"}}),
    (Operation.MOUSE_DRAG, {"start_element": SAVE, "to_x": 1, "to_y": 2}),
    (Operation.MOUSE_DRAG, {"to_element": SAVE, "start_x": 1, "start_y": 2}),
    (Operation.ELEMENT_INVOKE, {"element": SAVE}),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": ""}),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": "a\nb"}),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": 2.5}),
    (Operation.ELEMENT_FOCUS, {"element": SAVE}),
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
    (Operation.KEYBOARD_TYPE, {"text": "x" * 10_001}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "漢" * 601}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "a\x1b"}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": 12}, "text"),
    (Operation.KEYBOARD_TYPE, {"text": "a", "down": True}, "down"),
    (Operation.MOUSE_DRAG, {**DRAG, "path": [{"x": 5, "y": 6}] * 257}, "path"),
    (Operation.MOUSE_DRAG, {**DRAG, "path": [{"x": 5}]}, "path.0.y"),
    (Operation.MOUSE_CLICK, {"modifiers": ["ctrl", "a"]}, "modifiers.1"),
    (Operation.MOUSE_CLICK, {"modifiers": ["ctrl", ""]}, "modifiers.1"),
    (Operation.MOUSE_CLICK, {"modifiers": ["alt", "ctrl", "control"]}, "modifiers.2"),
    (Operation.MOUSE_CLICK, {"modifiers": "ctrl"}, "modifiers"),
    (Operation.MOUSE_CLICK, {"modifiers": ["ctrl"] * 11}, "modifiers"),
    (Operation.MOUSE_CLICK, {"button": "eighth"}, "button"),
    (Operation.MOUSE_CLICK, {"picture_size": {"width": 1, "height": 1}}, "picture_size"),
    (Operation.MOUSE_CLICK, {"in": {"width": 0, "height": 1}}, "in.width"),
    (Operation.MOUSE_CLICK, {"in": {"width": 1}}, "in.height"),
    (Operation.MOUSE_CLICK, {"x": 9, "y": -1, "in": {"width": 10, "height": 10}}, "y"),
    (Operation.MOUSE_SCROLL, {"direction": "up", "amount": 1, "x": 10, "y": 0, **IN}, "x"),
    (Operation.MOUSE_DRAG, {**DRAG, "start_y": 20, **IN}, "start_y"),
    (
        Operation.MOUSE_DRAG,
        {**DRAG, "path": [{"x": 1, "y": 1}, {"x": 10, "y": 1}], **IN},
        "path.1.x",
    ),
    (Operation.MOUSE_MOVE, {"x": 1, "y": 1, "path": [{"x": 1, "y": 20}], **IN}, "path.0.y"),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 0}, "hold"),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 60.1}, "hold"),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 1, "down": True}, "hold"),
    (Operation.KEYBOARD_KEY, {"text": "a", "repeat": 2, "down": False}, "repeat"),
    (Operation.KEYBOARD_KEY, {"text": "a", "repeat": 0}, "repeat"),
    (Operation.KEYBOARD_KEY, {"text": "a", "repeat": 101}, "repeat"),
    (Operation.KEYBOARD_KEY, {"text": "a", "hold": 0.61, "repeat": 100}, "repeat"),
    (Operation.KEYBOARD_KEY, {"text": " ".join("a" * 21), "repeat": 100}, "repeat"),
    (Operation.MOUSE_CLICK, {"element": {}}, "element"),
    (Operation.MOUSE_CLICK, {"element": SAVE, "x": 1, "y": 1}, "element"),
    (Operation.MOUSE_CLICK, {"element": {"name": "n" * 10_000}}, "element.name"),
    (Operation.MOUSE_MOVE, {"element": SAVE, "x": 1}, "element"),
    (Operation.MOUSE_MOVE, {"element": {"role": "knob"}}, "element.role"),
    (Operation.MOUSE_MOVE, {"x": 1}, "y"),
    (Operation.MOUSE_DRAG, {"start_element": SAVE, "to_x": 1}, "to_y"),
    (Operation.MOUSE_DRAG, {**DRAG, "to_element": SAVE}, "to_element"),
    (Operation.ELEMENT_INVOKE, {}, "element"),
    (Operation.ELEMENT_INVOKE, {"element": {"window": "*"}}, "element"),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE}, "value"),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": True}, "value"),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": "a\0"}, "value"),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": "a" * 10_001}, "value"),
    (Operation.ELEMENT_SET_VALUE, {"element": SAVE, "value": 1e300}, "value"),
]


def test_every_operation_has_its_body() -> None:
    assert set(COMMAND_BODIES) == set(Operation)
    assert all(body.input_name is name for name, body in COMMAND_BODIES.items())


@pytest.mark.parametrize(("operation", "body"), [*GOOD, *ELEMENTS])
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


@pytest.mark.parametrize(("operation", "body"), [*GOOD, *ELEMENTS])
def test_good_body_is_a_good_action(operation: Operation, body: dict[str, Any]) -> None:
    batch = Actions.model_validate({"actions": [{"operation": operation.value, **body}]})
    assert Actions.model_validate(batch.model_dump()) == batch
    assert Actions.model_validate_json(batch.model_dump_json()) == batch
    (sent,) = batch.model_dump(exclude_defaults=True)["actions"]
    understood = INPUT_BODIES[operation].model_validate(body)
    assert sent == {"operation": operation.value, **understood.model_dump(exclude_defaults=True)}


@pytest.mark.parametrize(("operation", "body", "field"), BAD)
def test_bad_action_names_its_number_and_the_field(
    operation: Operation, body: dict[str, Any], field: str
) -> None:
    action = {"operation": operation.value, **body}
    if action["operation"] != operation.value:
        return
    with pytest.raises(ValidationError) as caught:
        Actions.model_validate({"actions": [{"operation": "wait", "seconds": 1}, action]})
    (entry,) = entries_of(caught.value.errors())
    assert ".".join(entry.loc) == f"actions.1.{field}".removesuffix(".")


def test_drags_with_a_duration_holds_and_rare_characters_alone_take_time_of_their_own() -> None:
    assert TypeText(text="plain\n").own_seconds == 0
    assert TypeText(text="漢a漢").own_seconds == 0.4
    assert DragMouse(**DRAG, duration=2.5).own_seconds == 2.5
    assert DragMouse(**DRAG).own_seconds == 0
    assert ClickMouse(clicks=3).own_seconds == 0
    assert PressKeys(text="a", hold=0.5, repeat=4).own_seconds == 2
    assert PressKeys(text="a b", repeat=4).own_seconds == 0


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


PLAIN = {
    Operation.MOUSE_DRAG: '{"to_x":1,"to_y":1,"start_x":0,"start_y":0,"duration":null,'
    '"button":"left"}',
    Operation.MOUSE_CLICK: '{"x":null,"y":null,"button":"left","down":null,"clicks":1}',
    Operation.MOUSE_SCROLL: '{"x":null,"y":null,"direction":"up","amount":1}',
    Operation.MOUSE_MOVE: '{"x":1,"y":2}',
    Operation.KEYBOARD_KEY: '{"text":"a","down":null}',
}


@pytest.mark.parametrize("operation", PLAIN)
@pytest.mark.parametrize("empty", [None, (), "left out"])
def test_what_is_at_its_default_is_neither_sent_nor_fingerprinted(
    operation: Operation, empty: Any
) -> None:
    body = json.loads(PLAIN[operation])
    model = INPUT_BODIES[operation]
    known = model.model_json_schema()["properties"]
    if empty is None:
        body |= {name: None for name in ("modifiers", "in", "path", "hold") if name in known}
    elif empty == ():
        body |= {name: [] for name in ("modifiers", "path") if name in known}
    understood = model.model_validate(body)
    assert understood.model_dump_json() == PLAIN[operation]
    assert understood.model_dump() == json.loads(PLAIN[operation])


def test_size_of_a_picture_is_called_in_wherever_it_goes() -> None:
    body = {"x": 3, "y": 4, "in": {"width": 10, "height": 20}}
    move = MoveMouse.model_validate(body)
    assert move.picture_size == PictureSize(width=10, height=20)
    assert move.model_dump() == body
    assert json.loads(move.model_dump_json()) == body
    assert "in" in MoveMouse.model_json_schema(by_alias=True)["properties"]


def test_every_place_is_named_with_its_fields_and_can_be_put_elsewhere() -> None:
    drag = DragMouse.model_validate({**DRAG, "path": [{"x": 5, "y": 6}], **IN})
    assert list(drag.places) == [
        Place(0, 0, ("start_x",), ("start_y",)),
        Place(1, 1, ("to_x",), ("to_y",)),
        Place(5, 6, ("path", 0, "x"), ("path", 0, "y")),
    ]
    moved = drag.with_places(lambda place: (place.x + 100, place.y + 200))
    assert moved == DragMouse(
        start_x=100, start_y=200, to_x=101, to_y=201, path=(PathPoint(x=105, y=206),)
    )
    assert list(ClickMouse().places) == []
    assert ClickMouse(x=1, y=2).with_places(lambda _: (3, 4)) == ClickMouse(x=3, y=4)


def test_element_is_put_in_the_place_of_a_place() -> None:
    drag = DragMouse.model_validate({"start_element": SAVE, "to_x": 1, "to_y": 2})
    assert dict(drag.elements) == {"start_element": Selector(**SAVE)}
    assert [place.x for place in drag.places] == [1]
    found = drag.at({"start_element": (3, 4)})
    assert found == DragMouse(start_x=3, start_y=4, to_x=1, to_y=2)
    assert ClickMouse(element=Selector(**SAVE)).at({"element": (5, 6)}) == ClickMouse(x=5, y=6)
    assert ClickMouse(x=1, y=2).at({}) == ClickMouse(x=1, y=2)


@pytest.mark.parametrize(
    ("operation", "needed"), [(Operation.MOUSE_MOVE, 1), (Operation.MOUSE_DRAG, 2)]
)
def test_schema_says_that_a_place_or_an_element_is_needed(
    operation: Operation, needed: int
) -> None:
    schema = INPUT_BODIES[operation].model_json_schema(by_alias=True)
    assert len(schema["allOf"]) == needed
    for choice in schema["allOf"]:
        place, element = (each["required"] for each in choice["anyOf"])
        assert {*place, *element} <= {*schema["properties"]}
    assert not {*schema.get("required", ())}


@pytest.mark.parametrize(
    ("operation", "body", "words"),
    [
        (
            Operation.MOUSE_CLICK,
            {"modifiers": ["ctrl", "control"]},
            "names the modifier ctrl again",
        ),
        (Operation.MOUSE_CLICK, {"modifiers": ["enter"]}, "ctrl, shift, alt, super or altgr"),
        (Operation.MOUSE_MOVE, {"x": 10, "y": 1, **IN}, "whose pixels are 0 to 9"),
        (Operation.KEYBOARD_KEY, {"text": "a", "hold": 1, "down": True}, "leave down out"),
        (
            Operation.KEYBOARD_KEY,
            {"text": "a", "hold": 2, "repeat": 31},
            "hold times repeat is 60 s",
        ),
        (
            Operation.KEYBOARD_KEY,
            {"text": "a a " * 20 + "a", "repeat": 99},
            "chords times repeat is",
        ),
        (Operation.KEYBOARD_TYPE, {"text": "漢" * 601}, "can take 120.2 s, .* may take 120 s"),
    ],
)
def test_error_says_what_would_be_right(
    operation: Operation, body: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        INPUT_BODIES[operation].model_validate(body)
