"""The tour's inputs are valid, stay on the screen, and are what the witness expects."""

from collections import Counter

from pydantic_core import to_json

from farhand.actions import Action
from schemas.inputs.bodies import (
    INPUT_BODIES,
    ClickMouse,
    DragMouse,
    InputBody,
    Operation,
    PressKeys,
    ScrollMouse,
    TypeText,
)
from schemas.inputs.key_combinations import parse_combination
from schemas.inputs.texts import chords_of
from server.demo.tour import STEPS, WITNESSED, strokes_of

WIDTH_OF_THE_SHEET, HEIGHT = 900, 800


def input_of(action: Action) -> InputBody:
    """An action as the server reads it."""
    body = {name: value for name, value in action.items() if name != "operation"}
    return INPUT_BODIES[Operation(action["operation"])].model_validate_json(to_json(body))


def test_steps_are_all_the_inputs_that_a_window_sees() -> None:
    steps = {step.action["operation"] for step in STEPS}
    told = {each for each in Operation if not each.startswith(("element.", "clipboard."))}
    assert steps == told - {Operation.ACTIONS}


def test_witness_expects_what_the_steps_do() -> None:
    expected: Counter[str] = Counter()
    for step in STEPS:
        match input_of(step.action):
            case DragMouse():
                expected["drag"] += 1
            case ClickMouse(clicks=clicks):
                expected["click"] += clicks
            case ScrollMouse(amount=amount):
                expected["scroll"] += amount
            case PressKeys(text=text):
                expected["key"] += len(parse_combination(text))
            case TypeText(text=text):
                expected["key"] += len(chords_of(text))
    assert expected == WITNESSED


def test_strokes_are_drags_on_the_sheet() -> None:
    drags = [input_of(action) for action in strokes_of("HELLO")]
    assert len(drags) == 15
    for drag in drags:
        assert isinstance(drag, DragMouse)
        assert {drag.start_x, drag.to_x} <= set(range(WIDTH_OF_THE_SHEET))
        assert {drag.start_y, drag.to_y} <= set(range(HEIGHT))
        assert (drag.start_x, drag.start_y) != (drag.to_x, drag.to_y)
