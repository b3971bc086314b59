from types import SimpleNamespace
from typing import Any

import pytest

from machine_client.desktop.base import Refusal
from machine_client.work.places import put_on_desktop
from schemas.inputs.bodies import ClickMouse, DragMouse, MoveMouse, ScrollMouse
from schemas.inputs.places import PathPoint
from schemas.link.messages import Display

LOW = Display(x=-100, y=0, width=100, height=50)
HIGH = Display(x=0, y=-200, width=300, height=400)
"""Together 400 wide from -100 on, and 400 high from -200 on."""


def desktop(*displays: Display) -> Any:
    return SimpleNamespace(displays=lambda: list(displays))


def put(body: dict[str, Any], width: int, height: int) -> tuple[int | None, int | None]:
    click = ClickMouse.model_validate({**body, "in": {"width": width, "height": height}})
    placed = put_on_desktop(click, desktop(LOW, HIGH))
    assert placed.picture_size is None
    return placed.x, placed.y


@pytest.mark.parametrize(
    ("size", "pixel", "place"),
    [
        ((400, 400), (0, 200), (-100, 0)),
        ((400, 400), (399, 399), (299, 199)),
        ((200, 200), (100, 0), (101, -199)),  # the middle of two pixels is where the second begins
        ((200, 200), (199, 199), (299, 199)),
        ((100, 400), (99, 0), (298, -200)),
        ((800, 800), (799, 799), (299, 199)),
        ((800, 800), (200, 0), (0, -200)),
        ((800, 800), (201, 1), (0, -200)),
        ((1, 1), (0, 0), (100, 0)),
        ((2**31 - 1, 2**31 - 1), (2**31 - 2, 2**31 - 2), (299, 199)),
    ],
)
def test_pixel_of_a_picture_is_the_one_of_the_desktop_that_its_middle_lies_in(
    size: tuple[int, int], pixel: tuple[int, int], place: tuple[int, int]
) -> None:
    assert put({"x": pixel[0], "y": pixel[1]}, *size) == place


def test_all_places_of_an_input_are_put_there() -> None:
    body = {
        "start_x": 100,
        "start_y": 101,
        "to_x": 102,
        "to_y": 103,
        "path": [{"x": 104, "y": 105}],
        "in": {"width": 200, "height": 200},
    }
    drag = put_on_desktop(DragMouse.model_validate(body), desktop(LOW, HIGH))
    assert drag == DragMouse(
        start_x=101, start_y=3, to_x=105, to_y=7, path=(PathPoint(x=109, y=11),)
    )


def test_place_in_a_picture_that_was_made_to_fit() -> None:
    click = ClickMouse.model_validate({"x": 199, "y": 99, "in": {"fit": 200}})
    wide = Display(x=-100, y=0, width=800, height=400)
    placed = put_on_desktop(click, desktop(wide))
    assert (placed.x, placed.y) == (698, 398)


def test_without_a_picture_nothing_is_changed() -> None:
    bodies = (ClickMouse(), ClickMouse(x=1, y=1), MoveMouse(x=1, y=1))
    assert all(put_on_desktop(body, desktop(HIGH)) is body for body in bodies)


def test_without_a_place_a_picture_is_of_no_use_and_nobody_looks_for_displays() -> None:
    body = {"direction": "up", "amount": 1, "in": {"width": 2, "height": 2}}
    scroll = ScrollMouse.model_validate(body)
    nowhere: Any = None
    assert put_on_desktop(scroll, nowhere) is scroll


def test_pixel_of_what_no_display_shows_is_refused_at_its_field() -> None:
    """A picture of the whole desktop is black there."""
    with pytest.raises(Refusal) as refused:
        put({"x": 0, "y": 0}, 400, 400)
    outcome = refused.value.outcome
    assert (outcome.code, outcome.loc) == ("coordinates_outside_display", ("body", "y"))
    assert outcome.message.startswith("(-100, -200) is outside the displays")
