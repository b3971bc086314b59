"""A look at an X display changes nothing on it."""

import pytest

from machine_client.desktop.base import Desktop, InjectionUnavailable
from machine_client.desktop.x11.desktop import X11Desktop
from schemas.inputs.bodies import ClickMouse
from tests.desktop import virtual_display
from tests.held import NOTHING, held_on
from tests.machine_client.pressing import killed_after
from tests.machine_client.work.test_injector_killed import records, released_at_the_next_start


def look(desktop: Desktop, part: str) -> str:
    (check,) = (check for check in desktop.checks() if check.part == part)
    return check.look()


def test_what_a_killed_client_left_pressed_stays_for_the_next_client() -> None:
    with virtual_display() as display:
        killed_after(display, ClickMouse(down=True))
        left, recorded = held_on(display), records(display)
        assert left != NOTHING
        for part in ("display", "input", "screen"):
            look(X11Desktop(display), part)
        assert (held_on(display), records(display)) == (left, recorded)
        assert released_at_the_next_start(display) is not None


def test_what_is_no_display_is_refused() -> None:
    with pytest.raises(InjectionUnavailable, match="nonsense"):
        look(X11Desktop("nonsense"), "display")


def test_display_without_xtest_takes_no_input() -> None:
    with virtual_display("640x480x24", "-extension", "XTEST") as display:
        look(X11Desktop(display), "display")
        with pytest.raises(InjectionUnavailable, match="XTEST"):
            look(X11Desktop(display), "input")
