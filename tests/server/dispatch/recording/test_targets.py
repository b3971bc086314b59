from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.selectors import Selector
from schemas.steps.step import Target
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region
from server.dispatch.recording.before_and_after import Beneath
from server.dispatch.recording.drafts import Draft
from server.dispatch.recording.targets import crop_around, target_of
from tests.desktop_states import SMALL
from tests.told_elements import element

DESKTOP = Region(0, 0, 800, 600)
PICTURE = "a" * 64


def target(
    place: tuple[int, int] | None, picture: str | None = PICTURE, beneath: Beneath | None = None
) -> dict[str, Any]:
    """The target of a step at a place of a desktop with one display."""
    draft = Draft(
        command_id=UUID(int=1),
        index=0,
        sender=None,
        through="api",
        operation="mouse.click",
        body={},
        began=1,
        ended=2,
        place=place,
        beneath=beneath,
    )
    return target_of(draft, [SMALL], picture, DESKTOP)


@pytest.mark.parametrize(
    ("place", "around"),
    [
        ((400, 300), (240, 220, 320, 160)),
        ((0, 0), (0, 0, 320, 160)),
        ((799, 599), (480, 440, 320, 160)),
        ((800, 0), None),
        ((0, -1), None),
    ],
)
def test_crop_is_around_the_place_and_on_the_picture(
    place: tuple[int, int], around: tuple[int, ...] | None
) -> None:
    assert crop_around(place, DESKTOP) == around


def test_crop_of_a_small_desktop_is_all_of_it() -> None:
    small = Region(-100, 50, 90, 70)
    assert crop_around((-60, 60), small) == small


def test_target_says_the_display_and_what_was_around_the_place() -> None:
    area = {"x": 240, "y": 220, "width": 320, "height": 160}
    assert target((400, 300)) == {"crop": {"picture": PICTURE, "area": area}, "display": 0}
    Target.model_validate(target((400, 300)))
    assert target((400, 300), None) == {"display": 0}
    assert target((9000, 9000)) == {}
    assert target(None) == {}


@pytest.mark.parametrize(
    ("selector", "is_kept"),
    [
        ({"role": "text", "name": "Order"}, True),
        ({"role": "text", "value": "hunter2"}, False),
        ({"ref": "7"}, False),
    ],
)
def test_element_is_kept_unless_its_selector_has_a_value_or_a_ref(
    selector: dict[str, str], is_kept: bool
) -> None:
    found = Beneath((400, 300), {}, Selector(**selector), Region(390, 290, 40, 20))
    made = target((400, 300), beneath=found)
    assert ("element" in made) is is_kept
    assert made["box"] == {"x": 390, "y": 290, "width": 40, "height": 20}
    assert "hunter2" not in str(made)


def test_keys_after_a_click_have_what_was_clicked_where_no_element_is_known() -> None:
    keys = Draft(
        command_id=UUID(int=1),
        index=0,
        sender=None,
        through="api",
        operation="keyboard.type",
        body={},
        began=1,
        ended=2,
        pressed=(400, 300),
    )
    found = target_of(keys, [SMALL], PICTURE, DESKTOP)
    assert Target.model_validate(found).crop is not None
    assert found["crop"]["place"] == {"x": 400, "y": 300}
    assert target_of(keys, [SMALL], None, DESKTOP) == {}
    keys.beneath = Beneath(None, {}, selector=Selector(role="entry", name="Total"))
    assert "crop" not in target_of(keys, [SMALL], PICTURE, DESKTOP)


@pytest.mark.parametrize("was_seen_checked", [False, True])
def test_what_was_checked_by_a_click_was_not_before(*, was_seen_checked: bool) -> None:
    beneath = Beneath(
        (5, 5),
        {},
        selector=Selector(role="check box", name="Paid"),
        around=Around(is_checked=was_seen_checked),
        ref="paid",
    )
    unknown = target((5, 5), beneath=beneath)["around"]
    assert unknown == {"is_checked": was_seen_checked}
    beneath.left = {"paid": element("check box", "Paid", states=["enabled", "checked"])}
    assert target((5, 5), beneath=beneath)["around"] == {"is_checked": False}
