"""Every operation is sent, and what an input does tells it from all others."""

import random
from collections.abc import Iterator

import pytest

from schemas.inputs.actions import COMMAND_BODIES
from schemas.inputs.bodies import Operation
from schemas.inputs.clipboard_texts import PIECE_BYTES
from tests.faults.arrivals import FIELD, Kind, Step
from tests.faults.inputs import CONTENTS, Input, place_of, random_maker

INPUTS = 3000


def inputs(*, has_field: bool = False) -> Iterator[Input]:
    """Some inputs with contents one after another, and those that release what they hold."""
    rng = random.Random(7)
    for content in range(INPUTS):
        make, make_release = random_maker(rng, has_field=has_field)
        yield make(content)
        if make_release is not None:
            yield make_release(INPUTS + content)


def test_every_input_is_one_that_the_server_takes() -> None:
    for each in inputs(has_field=True):
        operation = Operation(each.operation.replace("/", "."))
        COMMAND_BODIES[operation].model_validate(dict(each.body))


def test_every_operation_comes_and_buttons_and_keys_are_held_and_released() -> None:
    made = {(each.operation, each.body.get("down")) for each in inputs()}
    assert made == {
        ("mouse/move", None),
        ("mouse/click", None),
        ("mouse/click", True),
        ("mouse/click", False),
        ("mouse/drag", None),
        ("mouse/scroll", None),
        ("keyboard/key", None),
        ("keyboard/key", True),
        ("keyboard/key", False),
        ("keyboard/type", None),
        ("clipboard/write", None),
        ("actions", None),
    }
    assert {each.body["clicks"] for each in inputs() if "clicks" in each.body} == {1, 2, 3}


def test_texts_come_into_a_field_where_there_is_one() -> None:
    assert {each.operation for each in inputs(has_field=True)} == {
        *(each.operation for each in inputs()),
        "element/set_value",
    }


def test_no_two_inputs_make_the_same_events() -> None:
    """But those that hold keys, of which there are few."""
    made = [each.steps for each in inputs() if each.steps and "down" not in each.body]
    assert len(set(made)) == len(made)


def test_several_actions_have_all_their_events_and_no_place_in_common() -> None:
    several = [each for each in inputs() if each.parts]
    assert {part.operation for each in several for part in each.parts} == {
        *("mouse/click", "mouse/scroll", "mouse/move"),
        *("keyboard/key", "keyboard/type", "wait"),
    }
    for each in several:
        assert 2 <= len(each.parts) <= 5
        assert each.steps == tuple(step for part in each.parts for step in part.steps)
    parts = [part for each in several for part in each.parts if part.has_place]
    assert len({part.steps[0].place for part in parts}) == len(parts)


def test_no_two_inputs_copy_the_same_and_some_texts_come_in_pieces() -> None:
    made = [each.copied for each in inputs(has_field=True) if each.copied is not None]
    assert len(set(made)) == len(made)
    assert {selection for selection, _ in made} == {"clipboard", "primary", FIELD}
    assert min(len(text) for _, text in made) < 100
    assert max(len(text) for _, text in made) > PIECE_BYTES


def test_no_mouse_input_begins_where_another_does() -> None:
    places = [each.steps[0].place for each in inputs() if each.has_place and each.steps]
    assert len(set(places)) == len(places)
    assert all(place and 0 <= place.x < 1279 and 0 <= place.y < 800 for place in places)


def test_what_is_pressed_is_released_but_where_it_is_held() -> None:
    for each in inputs():
        down: list[str] = []
        for step in each.steps:
            if step.kind is Kind.PRESS:
                assert step.what not in down
                down.append(step.what)
            elif step.kind is Kind.RELEASE:
                down.remove(step.what)
        assert bool(down) is (each.body.get("down") is True)


@pytest.mark.parametrize("down", [True, False])
def test_keys_are_released_by_the_input_of_the_same_content(*, down: bool) -> None:
    held = [each for each in inputs() if each.operation == "keyboard/key" and "down" in each.body]
    for each in held:
        if each.body["down"] is down:
            assert bool(each.steps) is down
            assert bool(each.lets_go) is not down


def test_steps_of_a_combination_are_in_the_order_of_its_keys() -> None:
    made = next(each for each in inputs() if "+" in str(each.body.get("text", "")))
    first = str(made.body["text"]).split()[0].split("+")
    assert made.steps[: 2 * len(first)] == (
        *(Step(Kind.PRESS, key) for key in first),
        *(Step(Kind.RELEASE, key) for key in reversed(first)),
    )


def test_capitals_are_typed_with_shift() -> None:
    for each in inputs():
        text = str(each.body.get("text", ""))
        if each.operation == "keyboard/type":
            shifts = [step for step in each.steps if step.what == "shift"]
            assert len(shifts) == 2 * sum(map(str.isupper, text))


def test_places_are_all_different() -> None:
    count = 50_000
    assert len({place_of(content) for content in range(count)}) == count
    with pytest.raises(AssertionError):
        place_of(CONTENTS)
