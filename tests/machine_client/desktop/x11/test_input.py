"""The input of an X display under what other programs do to it."""

import sys
import threading
from typing import Any

import pytest
import Xlib.display

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11 import input as input_module
from machine_client.desktop.x11.input import X11Input
from schemas.inputs.key_combinations import parse_combination
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from tests.desktop import Witness, resize_screen, virtual_display


def test_displays_follow_a_change_of_the_screen() -> None:
    with virtual_display() as display:
        desktop = X11Input(display)
        assert desktop.displays() == [Display(x=0, y=0, width=1280, height=800)]
        resize_screen(display, 800, 600)
        assert desktop.displays() == [Display(x=0, y=0, width=800, height=600)]
        desktop.close()


def test_displays_are_not_looked_at_again_without_a_change(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop = X11Input(display)
    first = desktop.displays()
    monkeypatch.setattr(input_module, "displays", lambda _: [])
    assert desktop.displays() == first
    desktop.close()


def test_a_program_that_grabs_the_server_does_not_stop_input(
    display: str, witness: Witness
) -> None:
    desktop = X11Input(display)
    other: Any = Xlib.display.Display(display)
    other.grab_server()
    other.sync()
    try:
        desktop.move(11, 12)
        desktop.press("left")
        desktop.release("left")
        assert desktop.pointer() == Point(x=11, y=12)
    finally:
        # Also where the input was stopped for good, and pytest ends the wait.
        other.ungrab_server()
        other.close()
    assert [str(event) for event in witness.take()] == [
        *("MotionNotify 0", "ButtonPress 1", "ButtonRelease 1")
    ]
    desktop.close()


def test_mouse_and_keys_share_one_count_and_one_connection(display: str) -> None:
    desktop = X11Input(display)
    before = desktop.confirmed
    desktop.move(1, 1)
    desktop.scroll("down")
    desktop.type_keys(parse_combination("a"), threading.Event())
    desktop.confirm()
    assert desktop.confirmed == before + 5
    desktop.close()
    with pytest.raises(DesktopError) as caught:
        desktop.move(1, 1)
    assert caught.value.code == "display_lost"


def test_pynput_that_cannot_be_loaded_is_a_reason_for_a_person(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynput.mouse", None)
    with pytest.raises(InjectionUnavailable, match="pynput cannot be used"):
        X11Input(display)
