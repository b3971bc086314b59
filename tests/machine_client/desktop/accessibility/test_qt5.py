"""Elements of a program of Qt 5, which tells of them otherwise than GTK."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from machine_client.desktop.accessibility.bus import Calls
from machine_client.desktop.base import Refusal
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse, InvokeElement, SetElementValue
from schemas.inputs.selectors import Selector, Sought
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program

SAVE = Selector(role="push button", name="Save")


@pytest.fixture
def program(accessible: AccessibleDesktop) -> Iterator[Program]:
    with accessible.qt5() as shown:
        yield shown


@pytest.fixture
def injector(accessible: AccessibleDesktop, program: Program) -> Iterator[DesktopInjector]:
    desktop = X11Desktop(accessible.display)
    with closing(DesktopInjector(desktop, elements=accessible.elements)) as injector:
        yield injector


def test_every_element_at_a_place_is_found_again_and_pressed(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector
) -> None:
    names = [*(f"Button {number}" for number in range(12)), "Save", "Cancel"]
    for name in names:
        found = accessible.elements.find(Selector(role="push button", name=name), place=True)
        listed = accessible.elements.listed(Sought(), at=found.place, limit=1, depth=None)
        (seen,) = listed.elements
        assert (seen.name, seen.bounds) == (name, found.bounds)
        injector.prepare(ClickMouse(element=Selector(ref=seen.ref)))()
    assert program.said == [f"clicked {name}" for name in names]


def test_list_has_no_closed_menu_and_no_secret(
    accessible: AccessibleDesktop, program: Program
) -> None:
    listed = accessible.elements.listed(Sought(), at=None, limit=100, depth=None)
    told = {each.name: each for each in listed.elements}
    assert told["Total"].value == "4711"
    assert told["Password"].value is None
    assert "geheim" not in repr(listed)
    assert {"Store", "Green"}.isdisjoint(told)


def test_selector_asks_no_name_and_no_state_of_what_it_cannot_mean(
    accessible: AccessibleDesktop, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    call = Calls.call

    async def counted(
        calls: Calls, name: str, path: str, interface: str, member: str, *rest: Any
    ) -> Any:
        asked[member] += 1
        return await call(calls, name, path, interface, member, *rest)

    monkeypatch.setattr(Calls, "call", counted)
    accessible.elements.listed(Sought(), at=None, limit=100, depth=None)
    everything = asked.copy()
    asked.clear()
    accessible.elements.find(SAVE, place=False)
    assert asked["GetRole"] == everything["GetRole"]
    assert asked["Get"] < everything["Get"] - 5
    assert asked["GetState"] < everything["GetState"] - 14


def test_moved_grown_and_doubled_buttons_are_told_apart(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector
) -> None:
    program.tell("move", 250, 180)
    program.tell("font", 14)
    program.tell("twin", "Save as")
    injector.prepare(ClickMouse(element=SAVE))()
    assert program.said == ["clicked Save"]
    program.tell("twin", "Save")
    assert accessible.refusal(name="Save") == "element_ambiguous"
    program.tell("disable", "Cancel")
    assert accessible.refusal(name="Cancel") == "element_missing"


def test_element_does_what_it_is_asked(program: Program, injector: DesktopInjector) -> None:
    injector.prepare(InvokeElement(element=SAVE))()
    program.hears("clicked Save")
    injector.prepare(SetElementValue(element=Selector(name="Total"), value="12"))()
    injector.prepare(SetElementValue(element=Selector(role="slider"), value=42))()
    assert program.said == ["changed 12", "slid 42"]


def test_choice_of_an_open_list_is_pressed_or_refused(
    program: Program, injector: DesktopInjector
) -> None:
    injector.prepare(ClickMouse(element=Selector(role="combo box")))()
    program.tell("nothing")
    try:
        injector.prepare(ClickMouse(element=Selector(role="list item", name="Green")))()
    except Refusal:
        assert program.said == []
    else:
        assert program.said == ["chose Green"]
