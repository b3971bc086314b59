"""What stands around an element, and whether it stands around another one."""

from typing import Any

import pytest

from schemas.inputs.selectors import Selector
from schemas.link.element_messages import MAX_NAME, SeenElement
from schemas.values.pictures import Region
from server.dispatch.here.neighbours import around, is_like, lacks
from tests.told_elements import element


def row(top: int, order: str, **others: Any) -> list[SeenElement]:
    """A line of a list: its order, what is to be paid, and its button."""
    return [
        element("label", order, bounds=Region(10, top + 5, 80, 20), **others),
        element("label", "12.00", bounds=Region(100, top + 5, 60, 20), ref=f"due {top}", **others),
        element(name="Edit", bounds=Region(200, top, 60, 30), ref=f"edit {top}", **others),
    ]


def test_line_of_an_element_is_what_is_around_it() -> None:
    first, second = row(0, "4711"), row(30, "4712")
    frame = element("frame", "Orders", bounds=Region(0, 0, 400, 300))
    there = [frame, *first, *second]
    recorded = around(first[2], there)
    assert (recorded.application, recorded.window) == ("accounts", "Invoice 4711")
    assert [(each.side, each.name) for each in recorded.neighbours] == [
        ("left", "12.00"),
        ("left", "4711"),
    ]
    assert lacks(first[2], there, recorded) == []
    assert lacks(second[2], there, recorded) == ['label "4711" to the left of it']


def test_what_is_above_counts_where_the_line_has_nothing_else() -> None:
    label = element("label", "Order", bounds=Region(10, 10, 80, 20))
    field = element("entry", "", bounds=Region(10, 32, 200, 30))
    recorded = around(field, [label, field])
    assert [(each.side, each.name) for each in recorded.neighbours] == [("above", "Order")]
    moved = [
        each.model_copy(update={"bounds": Region(*(300, 200 + each.bounds.y, 90, 20))})
        for each in (label, field)
        if each.bounds is not None
    ]
    assert lacks(moved[1], moved, recorded) == []
    assert lacks(field, [field], recorded) == ['label "Order" above it']


@pytest.mark.parametrize(
    ("changed", "lacking"),
    [
        ({"window": "Order 1"}, ["the window Invoice 4711"]),
        ({"application": "mail"}, ["the program accounts"]),
    ],
)
def test_other_window_or_program_is_another_element(
    changed: dict[str, str], lacking: list[str]
) -> None:
    recorded = around(element(), [element()])
    other = element(**changed)
    assert lacks(other, [other], recorded) == lacking


def test_what_is_around_has_no_values_and_is_bounded() -> None:
    many = [
        element("entry", "x" * (MAX_NAME - 1) + "…", value="hunter2", bounds=Region(x, 0, 9, 9))
        for x in range(0, 1000, 10)
    ]
    many = [each.model_copy(update={"ref": str(number)}) for number, each in enumerate(many)]
    recorded = around(many[50], many)
    assert len(recorded.neighbours) == 16
    assert "hunter2" not in recorded.model_dump_json()
    assert recorded.neighbours[0].name.endswith("x*")


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        ({"role": "push button"}, True),
        ({"role": "entry", "name": "Save"}, False),
        ({"name": "S*", "window": "Invoice*", "application": "acc?unts"}, True),
        ({"text": "av"}, True),
        ({"text": "AV"}, False),
        ({"name": "Save", "value": "?"}, False),
        ({"ref": "ref-push-button-Save"}, True),
        ({"ref": "other"}, False),
    ],
)
def test_element_is_like_what_fits_it_whole(selector: dict[str, str], *, fits: bool) -> None:
    assert is_like(element(), Selector.model_validate(selector)) is fits
