"""What a button that is down comes to."""

import pytest

from schemas.inputs.bodies import INPUT_BODIES, Operation
from server.dispatch.recording.gestures import HELD
from tests.server.dispatch.recording.hands import ScriptedHand


@pytest.fixture
def hand() -> ScriptedHand:
    return ScriptedHand()


def test_way_between_press_and_release_is_a_drag_along_it(hand: ScriptedHand) -> None:
    hand.clicks(5, 5)
    hand.presses(5, 5)
    hand.moves((10, 5), (20, 6))
    hand.releases(30, 7, after=100)
    (_, first, _), (operation, body, _) = hand.steps
    assert first == {"x": 5, "y": 5}
    assert operation == "mouse.drag"
    assert body == {
        "start_x": 5,
        "start_y": 5,
        "to_x": 30,
        "to_y": 7,
        "duration": 0.12,
        "path": [{"x": 10, "y": 5}, {"x": 20, "y": 6}],
    }


def test_unsteady_hand_clicks(hand: ScriptedHand) -> None:
    hand.presses(5, 5)
    hand.moves((6, 6), (7, 5))
    hand.releases(7, 5)
    assert hand.steps == [("mouse.click", {"x": 5, "y": 5}, None)]


def test_long_way_is_thinned_to_what_an_input_takes(hand: ScriptedHand) -> None:
    hand.presses(0, 0)
    for number in range(10):
        hand.moves(*((number * 100 + place, 0) for place in range(100)))
    hand.releases(1000, 0)
    ((_, body, _),) = hand.steps
    assert 200 < len(body["path"]) <= 256
    INPUT_BODIES[Operation.MOUSE_DRAG].model_validate(body)


def test_button_that_is_held_where_it_went_down_is_a_drag_to_there(hand: ScriptedHand) -> None:
    hand.presses(5, 5)
    hand.moves((6, 5))
    hand.releases(6, 5, after=HELD)
    ((operation, body, _),) = hand.steps
    assert operation == "mouse.drag"
    assert body == {"start_x": 5, "start_y": 5, "to_x": 5, "to_y": 5, "duration": 0.52}
