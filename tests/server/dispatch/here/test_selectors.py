"""A selector finds its element and no other, and is as short as it can be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.inputs.globs import Pattern
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_NAME, SeenElement
from server.dispatch.here.selectors import by_ref, selectors_of, sought_like
from tests.told_elements import element

ALL = Sought()
SAVE, CANCEL = element(), element(name="Cancel")
OTHER_WINDOW = element(window="Invoice 4712", ref="other")


def selector(meant: SeenElement, *others: SeenElement, sought: Sought = ALL) -> dict[str, Any]:
    (found,) = selectors_of([meant], [meant, *others], sought)
    return found.model_dump()


@pytest.mark.parametrize(
    ("meant", "others", "expected"),
    [
        (SAVE, [CANCEL], {"role": "push button", "name": "Save"}),
        (SAVE, [OTHER_WINDOW], {"role": "push button", "name": "Save", "window": "Invoice 4711"}),
        (
            element("entry", "", value="4711"),
            [element("entry", "", value="4712")],
            {"role": "entry", "value": "4711"},
        ),
        (element("entry", ""), [SAVE], {"role": "entry"}),
        (element(), [element(ref="twin")], {"ref": "ref-push-button-Save"}),
        (element("entry", ""), [element("entry", "Amount", ref="b")], {"ref": "ref-entry-"}),
        (element("a new role", "Save"), [CANCEL], {"name": "Save"}),
        (element("a new role", ""), [CANCEL], {"ref": "ref-a-new-role-"}),
        (element(name="50 % *"), [CANCEL], {"role": "push button", "name": r"50 % \*"}),
    ],
)
def test_selector_is_the_shortest_that_finds_it_alone(
    meant: SeenElement, others: list[SeenElement], expected: dict[str, str]
) -> None:
    assert selector(meant, *others) == expected


def test_what_was_sought_is_a_part_of_it() -> None:
    sought = Sought(window="Invoice*", text="a")
    assert selector(SAVE, CANCEL, sought=sought) == {
        "role": "push button",
        "name": "Save",
        "text": "a",
        "window": "Invoice*",
    }
    by_window = selector(SAVE, OTHER_WINDOW, sought=sought)
    assert (by_window["window"], by_window["text"]) == ("Invoice 4711", "a")


def test_name_whose_end_was_left_out_is_found_by_its_beginning() -> None:
    cut = element(name="n" * (MAX_NAME - 1) + "…")
    name = selector(cut)["name"]
    assert name == "n" * (MAX_NAME - 1) + "*"
    whole = element(name="Open…")
    assert selector(whole)["name"] == "Open…"


def test_what_has_no_name_is_not_sought_by_it() -> None:
    assert sought_like(element("entry", "")) is None
    assert sought_like(SAVE) == Sought(role="push button", name="Save")
    assert sought_like(element("a new role", "x")) == Sought(name="x")
    assert by_ref(SAVE) == Selector(ref=SAVE.ref)


def fits(found: Selector, told: SeenElement) -> bool:
    """Whether an element is like a selector, as machines see it."""
    if found.ref is not None:
        return told.ref == found.ref
    globs = {field: getattr(found, field) for field in ("name", "value", "window", "application")}
    return (found.role is None or found.role == told.role) and all(
        Pattern(glob).fits(getattr(told, field) or "")
        for field, glob in globs.items()
        if glob is not None
    )


TEXTS = st.sampled_from(["", "Save", "S*", "?", "\\", "Sa", "Open…", "a" * (MAX_NAME - 1) + "…"])
ELEMENTS = st.builds(
    lambda role, name, value, window, application: {
        "role": role,
        "name": name,
        "value": value or None,
        "window": window,
        "application": application,
    },
    st.sampled_from(["push button", "entry", "a new role"]),
    *[TEXTS] * 4,
)


@given(st.lists(ELEMENTS, min_size=1, max_size=8))
def test_selector_fits_its_element_and_no_other(told: list[dict[str, Any]]) -> None:
    elements = [element(**each, ref=f"ref-{number}") for number, each in enumerate(told)]
    for meant, found in zip(elements, selectors_of(elements, elements, ALL), strict=True):
        assert [each.ref for each in elements if fits(found, each)] == [meant.ref]
