"""The mouse while others hold its buttons, or we do; each event as a witness sees it."""

import os
import sys
from collections.abc import Iterator

import pytest

from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.desktop.x11.mouse import Pynput
from machine_client.work.injector import DesktopInjector, InjectionFailed, InjectionUnavailable
from schemas.inputs.bodies import ClickMouse, DragMouse, MoveMouse
from tests.desktop import Witness
from tests.machine_client.desktop.x11.somebody import Person
from tests.machine_client.desktop.x11.typed import told

CLICK = ClickMouse(x=30, y=40)
DRAG = DragMouse(start_x=1, start_y=2, to_x=90, to_y=80)


@pytest.fixture
def injector(display: str) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(X11Desktop(display))
    injector.prepare(MoveMouse(x=500, y=500))()
    yield injector
    injector.close()


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
