"""Programs that draw several pixels for each of theirs: a click goes to the desktop's pixels."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse
from schemas.inputs.selectors import Selector
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, accessible_desktop

NAMES = ("Save", "Button 3", "Cancel")


@pytest.fixture(scope="module")
def large() -> Iterator[AccessibleDesktop]:
    with accessible_desktop("2560x1600x24") as desktop:
        yield desktop


@pytest.mark.parametrize(("toolkit", "scale"), [("gtk3", "2"), ("qt5", "2"), ("qt5", "1.5")])
def test_scaled_program_is_pressed_where_it_is(
    large: AccessibleDesktop, toolkit: str, scale: str
) -> None:
    show = large.gtk3 if toolkit == "gtk3" else large.qt5
    desktop = X11Desktop(large.display)
    with (
        show(scale=scale) as program,
        closing(DesktopInjector(desktop, elements=large.elements)) as injector,
    ):
        for name in NAMES:
            injector.prepare(ClickMouse(element=Selector(role="push button", name=name)))()
            assert program.said == [f"clicked {name}"]
