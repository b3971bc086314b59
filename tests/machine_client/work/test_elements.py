"""Elements in the place of places: found, looked at once more, and refused at their field."""

from typing import Any

import pytest

from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    DesktopError,
    FoundElement,
    NoElements,
    Refusal,
)
from machine_client.work.elements import ask_element, find_all, put_on_elements
from schemas.inputs.bodies import (
    ClickMouse,
    DragMouse,
    FocusElement,
    InvokeElement,
    MoveMouse,
    SetElementValue,
)
from schemas.inputs.outcomes import Point, Refused
from schemas.inputs.selectors import Selector

SAVE, BIN = Selector(name="Save"), Selector(name="Bin")


class ScriptedElements(NoElements):
    """Elements that are where a test has them."""

    def __init__(self, **places: tuple[int, int]) -> None:
        super().__init__("")
        self.places = places
        self.done: list[tuple[Any, ...]] = []

    def find(self, selector: Selector, *, place: bool) -> FoundElement:  # type: ignore[override]
        return self._found(str(selector.name), place=place)

    def look_again(self, found: FoundElement) -> FoundElement:  # type: ignore[override]
        return self._found(str(found.handle), place=found.place is not None)

    def _found(self, name: str, *, place: bool) -> FoundElement:
        if name not in self.places:
            raise Refusal(Refused(code="element_missing", message="it is not there"))
        x, y = self.places[name]
        return FoundElement(name, None, Point(x=x, y=y) if place else None)

    def invoke(self, found: FoundElement) -> None:  # type: ignore[override]
        self.done.append(("invoke", found.handle))

    def focus(self, found: FoundElement) -> None:  # type: ignore[override]
        self.done.append(("focus", found.handle))

    def set_value(self, found: FoundElement, value: str | float) -> None:  # type: ignore[override]
        if value == "no":
            raise DesktopError("value_not_taken", "it did not take it")
        self.done.append(("set", found.handle, value))


def test_element_is_where_it_is_at_the_last_look() -> None:
    elements = ScriptedElements(Save=(1, 2), Bin=(3, 4))
    click, drag = ClickMouse(element=SAVE), DragMouse(start_element=SAVE, to_element=BIN)
    found, both = find_all(click, elements), find_all(drag, elements)
    elements.places["Save"] = (5, 6)
    assert put_on_elements(click, found, elements) == ClickMouse(x=5, y=6)
    moved = DragMouse(start_x=5, start_y=6, to_x=3, to_y=4)
    assert put_on_elements(drag, both, elements) == moved


def test_places_stay_as_they_are() -> None:
    move = MoveMouse(x=1, y=2)
    found = find_all(move, ELEMENTS_UNTOLD)
    assert put_on_elements(move, found, ELEMENTS_UNTOLD) == move


def test_refusal_names_the_field() -> None:
    drag = DragMouse(start_element=SAVE, to_element=BIN)
    with pytest.raises(Refusal) as refused:
        find_all(drag, ScriptedElements(Save=(1, 2)))
    assert refused.value.outcome.loc == ("body", "to_element")
    elements = ScriptedElements(Save=(1, 2), Bin=(3, 4))
    found = find_all(drag, elements)
    del elements.places["Save"]
    with pytest.raises(Refusal) as refused:
        put_on_elements(drag, found, elements)
    assert refused.value.outcome.loc == ("body", "start_element")


def test_desktop_without_elements_refuses_before_anything() -> None:
    for body in (ClickMouse(element=SAVE), InvokeElement(element=SAVE)):
        with pytest.raises(Refusal) as refused:
            find_all(body, ELEMENTS_UNTOLD)
        outcome = refused.value.outcome
        assert (outcome.code, outcome.loc) == ("elements_unavailable", ("body", "element"))


def go_on() -> None:
    """Nothing is in the way."""


def test_element_is_asked_for_what_the_input_wants() -> None:
    elements = ScriptedElements(Save=(1, 2))
    for body in (
        InvokeElement(element=SAVE),
        FocusElement(element=SAVE),
        SetElementValue(element=SAVE, value=3),
    ):
        ask_element(body, find_all(body, elements), elements, go_on)
    assert elements.done == [("invoke", "Save"), ("focus", "Save"), ("set", "Save", 3)]
    body = SetElementValue(element=SAVE, value="no")
    with pytest.raises(DesktopError):
        ask_element(body, find_all(body, elements), elements, go_on)
