"""Elements of real programs, found, pressed and refused; the programs are the witness."""

import asyncio
import dataclasses
import itertools
from collections.abc import Iterator
from contextlib import closing

import pytest

from machine_client.desktop.accessibility import bus, elements, programs
from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.accessibility.windows import DesktopWindow
from machine_client.desktop.base import DesktopError, FoundElement, Refusal
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.desktop.x11.windows import X11Windows
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import (
    ClickMouse,
    FocusElement,
    InvokeElement,
    SetElementValue,
)
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from schemas.values.pictures import Region
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program
from tests.waiting import WAIT_SECONDS, eventually

SAVE = Selector(role="push button", name="Save")


@pytest.fixture
def injector(accessible: AccessibleDesktop) -> Iterator[DesktopInjector]:
    desktop = X11Desktop(accessible.display)
    with closing(DesktopInjector(desktop, elements=accessible.elements)) as injector:
        yield injector


def test_click_at_an_element_reaches_it(program: Program, injector: DesktopInjector) -> None:
    injector.prepare(ClickMouse(element=SAVE))()
    assert program.said == ["clicked Save"]


def test_list_has_what_can_be_seen_and_never_what_is_in_a_password_field(
    accessible: AccessibleDesktop, program: Program
) -> None:
    listed = accessible.elements.listed(Sought(), at=None, limit=100, depth=None)
    told = {each.name: each for each in listed.elements}
    assert told["Total"].value == "4711"
    assert (told["Password"].role, told["Password"].value) == ("password text", None)
    assert {"Save", "Agree", "Volume", "File"} <= {*told}
    assert "Store" not in told  # Its menu is closed.
    assert "geheim" not in listed.elements.__repr__()
    assert (listed.truncated, listed.silent) == (None, ())
    assert told["Save"].window == "Invoice 7"
    assert told["Invoice 7"].depth == 0 < told["Save"].depth
    # By no filter, either.
    for sought in (Sought(text="geheim"), Sought(value="geheim"), Sought(value="ge*")):
        assert accessible.elements.listed(sought, at=None, limit=9, depth=None).elements == ()


@pytest.mark.parametrize("name", [f"Button {number}" for number in range(12)])
def test_element_at_a_place_is_found_again_by_its_selector(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector, name: str
) -> None:
    found = accessible.elements.find(Selector(role="push button", name=name), place=True)
    assert found.place is not None
    listed = accessible.elements.listed(Sought(), at=found.place, limit=1, depth=None)
    (seen,) = listed.elements
    assert (seen.name, seen.bounds) == (name, found.bounds)
    by_ref = Selector(ref=seen.ref)
    injector.prepare(ClickMouse(element=by_ref))()
    assert program.said == [f"clicked {name}"]


def test_none_and_two_of_them_press_nothing(
    accessible: AccessibleDesktop, program: Program
) -> None:
    assert accessible.refusal(name="Sav") == "element_missing"
    assert accessible.refusal(name="Store") == "element_missing"
    program.tell("twin", "Save")
    assert accessible.refusal(name="Save") == "element_ambiguous"
    program.tell("hide", "Save")
    assert accessible.refusal(name="Save") == "found"
    program.tell("disable", "Cancel")
    assert accessible.refusal(name="Cancel") == "element_missing"
    assert program.said == []


def test_moved_and_grown_window_is_no_other(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector
) -> None:
    program.tell("move", 300, 200)
    program.tell("font", 16)
    injector.prepare(ClickMouse(element=SAVE))()
    assert program.said == ["clicked Save"]


def test_element_that_moves_between_finding_and_pressing_is_pressed_where_it_is(
    program: Program, injector: DesktopInjector
) -> None:
    begin = injector.prepare(ClickMouse(element=SAVE))
    program.tell("move", 320, 220)
    begin()
    assert program.said == ["clicked Save"]


def test_window_that_is_just_changing_is_looked_at_again(
    accessible: AccessibleDesktop,
    program: Program,
    injector: DesktopInjector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The desktop tells of the window's old size at first, and the program of the new one."""
    seen, looks = X11Windows.seen, itertools.count()

    def late(windows: X11Windows) -> list[DesktopWindow]:
        found = seen(windows)
        if next(looks) > 1:
            return found
        smaller = Region(0, 0, 50, 50)
        return [dataclasses.replace(each, bounds=smaller, outer=smaller) for each in found]

    monkeypatch.setattr(X11Windows, "seen", late)
    injector.prepare(ClickMouse(element=SAVE))()
    assert program.said == ["clicked Save"]


@pytest.mark.parametrize(
    "change",
    ["hide Save", "disable Save", "rename Save to Delete", "rename Save to Save and send"],
)
def test_element_that_changes_between_finding_and_pressing_is_not_pressed(
    program: Program, injector: DesktopInjector, change: str
) -> None:
    begin = injector.prepare(ClickMouse(element=SAVE))
    program.tell(change)
    with pytest.raises(Refusal) as refused:
        begin()
    assert (refused.value.outcome.code, refused.value.outcome.loc) == (
        "element_missing",
        ("body", "element"),
    )
    assert program.said == []


@pytest.mark.parametrize("body", [ClickMouse(element=SAVE), InvokeElement(element=SAVE)])
def test_who_is_interrupted_in_the_second_look_presses_nothing(
    accessible: AccessibleDesktop,
    program: Program,
    injector: DesktopInjector,
    monkeypatch: pytest.MonkeyPatch,
    body: ClickMouse | InvokeElement,
) -> None:
    begin, look_again = injector.prepare(body), AtSpiElements.look_again

    def interrupted(elements: AtSpiElements, found: FoundElement) -> FoundElement:
        injector.interrupt()
        return look_again(elements, found)

    monkeypatch.setattr(AtSpiElements, "look_again", interrupted)
    with pytest.raises(InjectionFailed) as failed:
        begin()
    assert (failed.value.code, failed.value.injected_at_least) == ("interrupted", 0)
    assert program.said == []


def test_covered_element_is_not_pressed(accessible: AccessibleDesktop, program: Program) -> None:
    with accessible.gtk3(title="In front") as front:
        front.tell("move", 100, 80)
        assert accessible.refusal(name="Save", window="Invoice*") == "element_missing"
        assert accessible.refusal(name="Save", window="In front") == "found"
        assert accessible.refusal(name="Save", window="Invoice*", place=False) == "found"
        front.tell("move", 690, 80)
        assert accessible.refusal(name="Save", window="Invoice*") == "found"
    assert program.said == []


def test_ref_is_of_one_element_while_it_is_what_it_was(
    accessible: AccessibleDesktop, program: Program
) -> None:
    listed = accessible.elements.listed(Sought(name="Save"), at=None, limit=1, depth=None)
    ref = listed.elements[0].ref
    assert accessible.refusal(ref=ref) == "found"
    program.tell("rename", "Save to Delete")
    assert accessible.refusal(ref=ref) == "element_missing"
    assert accessible.refusal(ref="anything~at-all") == "element_missing"


def test_open_menu_is_chosen_from(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector
) -> None:
    injector.prepare(ClickMouse(element=Selector(name="File")))()
    program.tell("nothing")
    store = Selector(role="menu item", name="Store")
    eventually(lambda: accessible.refusal(name="Store") == "found", "the menu is open")
    injector.prepare(ClickMouse(element=store))()
    assert program.said == ["chose Store"]


def test_element_does_what_it_is_asked(
    accessible: AccessibleDesktop, program: Program, injector: DesktopInjector
) -> None:
    total, volume = Selector(name="Total"), Selector(role="slider")
    injector.prepare(InvokeElement(element=SAVE))()
    injector.prepare(SetElementValue(element=total, value="12 €"))()
    injector.prepare(SetElementValue(element=volume, value=42))()
    injector.prepare(FocusElement(element=Selector(name="Agree")))()
    assert program.said == ["clicked Save", "changed 12 €", "slid 42.0"]
    with pytest.raises(Refusal) as refused:
        injector.prepare(SetElementValue(element=SAVE, value="no"))()
    assert refused.value.outcome.code == "element_cannot"
    with pytest.raises(Refusal):
        injector.prepare(InvokeElement(element=Selector(role="frame")))()
    assert program.said == []


def test_program_that_hangs_costs_a_moment_and_nobody_else(
    accessible: AccessibleDesktop,
    program: Program,
    injector: DesktopInjector,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def only_the_other_answers() -> bool:
        # On a busy machine that one may be late as well.
        listed = accessible.elements.listed(Sought(), at=None, limit=100, depth=None)
        return {each.window for each in listed.elements} == {"Other"} and len(listed.silent) == 1

    def be_impatient() -> None:
        monkeypatch.setattr(bus, "SILENCE_SECONDS", 1.0)
        accessible.elements.close()  # The next question begins anew.

    with accessible.gtk3(title="Other") as other:
        other.tell("move", 690, 80)
        found = accessible.elements.find(SAVE.model_copy(update={"window": "Other"}), place=False)
        program.stop()
        try:
            be_impatient()
            eventually(only_the_other_answers, "the other one is told of")
            # Of the one that hangs it is known: nobody waits for it any more.
            monkeypatch.setattr(bus, "SILENCE_SECONDS", WAIT_SECONDS)
            injector.prepare(ClickMouse(element=SAVE.model_copy(update={"window": "Other"})))()
            assert other.said == ["clicked Save"]
            other.stop()
            be_impatient()
            with pytest.raises(DesktopError) as raised:
                accessible.elements.invoke(found)
            assert raised.value.code == "element_silent"
        finally:
            other.go_on()
            program.go_on()
            monkeypatch.setattr(bus, "SILENCE_SECONDS", WAIT_SECONDS)
        assert other.said == []
    assert program.said == []
    assert accessible.refusal(name="Save") == "found"


def test_wait_sees_one_come_and_go(accessible: AccessibleDesktop, program: Program) -> None:
    is_there, where = accessible.elements.sight(SAVE)
    assert is_there
    assert where is not None
    program.tell("hide", "Save")
    assert accessible.elements.sight(SAVE) == (False, None)


def test_list_is_cut_with_a_word(accessible: AccessibleDesktop) -> None:
    with accessible.gtk3(buttons=300):
        buttons = Sought(role="push button")
        listed = accessible.elements.listed(buttons, at=None, limit=10, depth=None)
        assert (len(listed.elements), listed.truncated) == (10, "limit")
        shallow = accessible.elements.listed(Sought(), at=None, limit=1000, depth=1)
        assert {each.depth for each in shallow.elements} == {0, 1}


def test_thousands_are_told_as_far_as_an_answer_may_be_long(
    accessible: AccessibleDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine needs longer to read them all.
    monkeypatch.setattr(programs, "PROGRAM_SECONDS", 180.0)
    monkeypatch.setattr(elements, "SECONDS", 180.0)
    with accessible.shown("gtk3_labels.py", "5000", "Labels", {}):
        listed = accessible.elements.listed(Sought(), at=None, limit=1000, depth=None)
        assert (listed.truncated, listed.silent) == ("size", ())
        assert sum(len(each.model_dump_json()) for each in listed.elements) < 192 * 1024
        last = Selector(role="label", name="Label 59")
        assert accessible.elements.find(last, place=False)


def test_element_beyond_the_screen_is_not_pressed(
    accessible: AccessibleDesktop, program: Program
) -> None:
    program.tell("move", -150, 80)
    assert accessible.refusal(role="push button", name="Save") == "element_missing"
    assert accessible.refusal(role="push button", name="Talk") == "found"


def test_program_that_shows_too_much_for_the_time_is_told_in_part_and_never_pressed(
    accessible: AccessibleDesktop, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never_ready(*_: object, **__: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(programs, "PROGRAM_SECONDS", 0.2)
    monkeypatch.setattr(programs._Reader, "_complete", never_ready)

    def is_told_in_part() -> bool:
        # Its window alone may take as long on a busy machine.
        listed = accessible.elements.listed(Sought(), at=None, limit=1000, depth=None)
        assert listed.truncated == "time"
        return [each.role for each in listed.elements][:1] == ["frame"]

    eventually(is_told_in_part, "it is told in part")
    frame = Selector(role="frame", name="Invoice*")
    with pytest.raises(Refusal, match="shows too much to be looked at in time"):
        accessible.elements.find(frame, place=True)
    # Whether it is there or gone is not known.
    assert accessible.elements.sight(frame) == (None, None)


def test_place_without_a_program_has_no_elements(accessible: AccessibleDesktop) -> None:
    listed = accessible.elements.listed(Sought(), at=Point(x=1, y=1), limit=9, depth=None)
    assert listed.elements == ()


def test_desktop_without_windows_has_elements_and_no_places(
    accessible: AccessibleDesktop, program: Program
) -> None:
    elements = AtSpiElements(None, "this desktop does not tell where windows are")
    with pytest.raises(DesktopError, match="where windows are") as raised:
        elements.find(SAVE, place=True)
    assert raised.value.code == "elements_unavailable"
    (seen,) = elements.listed(Sought(name="Save"), at=None, limit=9, depth=None).elements
    assert seen.bounds is None
    elements.invoke(elements.find(SAVE, place=False))
    program.hears("clicked Save")
    elements.close()


def test_machine_without_a_bus_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    elements = AtSpiElements(None)
    assert "D-Bus" in str(elements.why_none())
    with pytest.raises(DesktopError):
        elements.find(SAVE, place=False)
    elements.close()
