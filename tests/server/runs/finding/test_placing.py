"""Where a step's input goes once its target was found."""

from typing import Any

import pytest

from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.steps.step import Step
from schemas.values.pictures import Region
from server.runs.finding import placing
from tests.told_elements import element

DRAG = {"start_x": 10, "start_y": 20, "to_x": 60, "to_y": 20, "path": [{"x": 30, "y": 25}]}


def step(operation: str, **body: Any) -> Step:
    return Step(operation=operation, body=body)


def test_element_stands_in_the_place_of_a_place_and_the_rest_stays() -> None:
    click = step("mouse.click", x=0, y=5, clicks=2, modifiers=["ctrl"])
    body = placing.at_element(click, element())
    assert body == {"clicks": 2, "modifiers": ["ctrl"], "element": {"ref": "ref-push-button-Save"}}
    INPUT_BODIES[Operation.MOUSE_CLICK].model_validate(body)


@pytest.mark.parametrize(
    ("scale", "moved"),
    [
        (1.0, {**DRAG, "start_x": 110, "to_x": 160, "path": [{"x": 130, "y": 25}]}),
        (
            2.0,
            {"start_x": 120, "start_y": 40, "to_x": 220, "to_y": 40, "path": [{"x": 160, "y": 50}]},
        ),
    ],
)
def test_all_places_go_where_the_target_went(scale: float, moved: dict[str, Any]) -> None:
    drag = step("mouse.drag", **DRAG)
    body = placing.moved(drag, Region(0, 0, 100, 40), Region(100, 0, 100, 40), scale)
    assert body == moved
    INPUT_BODIES[Operation.MOUSE_DRAG].model_validate(body)


@pytest.mark.parametrize(
    ("operation", "body", "place"),
    [
        ("mouse.click", {"x": 3, "y": 4}, (3, 4)),
        ("mouse.drag", DRAG, (10, 20)),
        ("mouse.click", {}, None),
        ("mouse.click", {"x": 3, "y": 4, "in": {"width": 640, "height": 400}}, None),
        ("keyboard.key", {"text": "ctrl+a"}, None),
        ("wait", {"seconds": 1}, None),
    ],
)
def test_first_place_of_a_step(
    operation: str, body: dict[str, Any], place: tuple[int, int] | None
) -> None:
    assert placing.place_of(step(operation, **body)) == place


def test_places_within_a_box_are_told_from_those_that_leave_it() -> None:
    drag = step("mouse.drag", **DRAG)
    assert placing.are_within(drag, Region(0, 0, 100, 40))
    assert not placing.are_within(drag, Region(0, 0, 60, 40))
    assert placing.is_single(step("mouse.click", x=1, y=2))
    assert not placing.is_single(drag)


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ({}, True),
        ({"role": "drawing area"}, False),
        ({"role": "text"}, True),
        ({"role": "text", "states": ["enabled", "multi-line"]}, False),
        ({"role": "table cell", "states": ["enabled", "expandable"]}, False),
    ],
)
def test_some_elements_do_the_same_wherever_they_are_clicked(
    said: dict[str, Any], *, whole: bool
) -> None:
    assert placing.may_be_whole(element(**said)) is whole
