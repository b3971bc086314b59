"""The mouse while others hold its buttons, or we do; each event as a witness sees it."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.desktop.x11.mouse import Pynput
from machine_client.injector import DesktopInjector, InjectionFailed, InjectionUnavailable
from schemas.inputs.bodies import AnyInput, ClickMouse, DragMouse, MoveMouse, ScrollMouse
from schemas.inputs.outcomes import Point
from tests.desktop import Witness
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool

CLICK = ClickMouse(x=30, y=40)
DRAG = DragMouse(start_x=1, start_y=2, to_x=90, to_y=80)


@pytest.fixture
def injector(display: str) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(X11Desktop(display))
    injector.prepare(MoveMouse(x=500, y=500))()
    yield injector
    injector.close()


@pytest.fixture(params=["xdotool", "person"])
def holds(request: Any, display: str) -> Iterator[Callable[[int], Any]]:
    """Somebody who holds a button by its number."""
    person = Person(display)
    if request.param == "person":
        yield lambda number: person.holding("button", number)
    else:
        yield lambda number: held_by_xdotool(display, "mouse", str(number))
    person.close()


def told(witness: Witness) -> list[str]:
    return [str(event) for event in witness.take()]


@pytest.mark.parametrize(
    ("body", "number", "message"),
    [
        (CLICK, 1, "Somebody else holds down the left button of the mouse"),
        (ClickMouse(button="right", down=True), 3, "the right button"),
        (ClickMouse(button="middle", down=False, x=1, y=1), 2, "the middle button"),
        (DRAG, 1, "the left button"),
    ],
)
def test_what_somebody_else_holds_is_refused_before_any_event(
    injector: DesktopInjector,
    witness: Witness,
    holds: Any,
    body: AnyInput,
    number: int,
    message: str,
) -> None:
    with holds(number):
        witness.take()
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(body)()
        assert told(witness) == []
    assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)
    assert message in caught.value.message
    witness.take()
    injector.prepare(body)()


@pytest.mark.parametrize(("direction", "number"), [("down", 5), ("right", 7)])
def test_a_wheel_that_somebody_else_holds_is_refused_before_any_event(
    injector: DesktopInjector, witness: Witness, display: str, direction: Any, number: int
) -> None:
    with held_by_xdotool(display, "mouse", str(number)):
        witness.take()
        with pytest.raises(InjectionFailed, match=f"wheel, turned {direction}") as caught:
            injector.prepare(ScrollMouse(direction=direction, amount=2, x=3, y=3))()
        assert told(witness) == []
    assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)


def test_another_button_than_the_one_held_is_free(
    injector: DesktopInjector, witness: Witness, holds: Any
) -> None:
    with holds(3):
        witness.take()
        injector.prepare(CLICK)()
        injector.prepare(ScrollMouse(direction="up", amount=0, x=5, y=5))()
        assert told(witness) == [
            *("MotionNotify 0", "ButtonPress 1", "ButtonRelease 1", "MotionNotify 0")
        ]


@pytest.mark.parametrize("body", [CLICK, DRAG, ClickMouse(x=30, y=40, clicks=2)])
def test_a_button_that_we_hold_goes_up_before_any_move_and_ends_released(
    injector: DesktopInjector, witness: Witness, body: AnyInput
) -> None:
    injector.prepare(ClickMouse(down=True))()
    witness.take()
    injector.prepare(body)()
    first, *rest = witness.take()
    assert (str(first), first.x, first.y) == ("ButtonRelease 1", 500, 500)
    assert str(rest[0]) == "MotionNotify 0"
    assert str(rest[1]) == "ButtonPress 1"
    assert str(rest[-1]) == "ButtonRelease 1"
    assert injector.injected == len(rest) + 1
    injector.release_all()
    assert told(witness) == []


def test_holding_again_is_up_and_down(injector: DesktopInjector, witness: Witness) -> None:
    for _ in range(2):
        injector.prepare(ClickMouse(down=True))()
    assert told(witness) == ["ButtonPress 1", "ButtonRelease 1", "ButtonPress 1"]


def test_releasing_what_nobody_holds_succeeds_without_an_event(
    injector: DesktopInjector, witness: Witness
) -> None:
    witness.take()
    assert injector.prepare(ClickMouse(down=False))() == Point(x=500, y=500)
    assert injector.injected == 0
    assert told(witness) == []


def test_a_button_that_we_and_a_person_hold_is_refused_and_stays(
    injector: DesktopInjector, witness: Witness, display: str
) -> None:
    person = Person(display)
    injector.prepare(ClickMouse(down=True))()
    with person.holding("button", 1):
        witness.take()
        with pytest.raises(InjectionFailed) as caught:
            injector.prepare(CLICK)()
        assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)
        assert told(witness) == []
    person.close()
    injector.release_all()
    assert told(witness) == ["ButtonRelease 1"]


def test_pynput_leaves_the_environment_as_it_was(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    Pynput(display)
    assert os.environ["DISPLAY"] == ":4711"
    monkeypatch.setitem(sys.modules, "pynput.mouse", None)
    with pytest.raises(InjectionUnavailable, match="pynput cannot be used"):
        Pynput(display)
