"""Windows of an X server, as it tells of them."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import Xlib.display

from machine_client.desktop.x11.windows import X11Windows
from schemas.values.pictures import Region
from tests.desktop import virtual_display


@pytest.fixture(scope="module")
def own_display() -> Iterator[str]:
    with virtual_display() as name:
        yield name


def show(display: Xlib.display.Display, title: str, *place: int, is_popup: bool = False) -> Any:
    root = display.screen().root
    window = root.create_window(*place, 0, display.screen().root_depth, override_redirect=is_popup)
    window.set_wm_name(title)
    window.map()
    display.sync()
    return window


def test_windows_are_told_from_the_top_with_whose_they_are(own_display: str) -> None:
    display = Xlib.display.Display(own_display)
    with closing(display), closing(X11Windows(own_display)) as windows:
        lower = show(display, "lower", 10, 20, 300, 200)
        upper = show(display, "upper", 100, 100, 300, 200, is_popup=True)
        inner = upper.create_window(5, 5, 50, 50, 0, display.screen().root_depth)
        inner.map()
        display.sync()
        first, second = windows.seen()
        assert (first.title, first.id, first.is_popup) == ("upper", upper.id, True)
        assert (second.title, second.id, second.is_popup) == ("lower", lower.id, False)
        assert second.bounds == second.outer == Region(10, 20, 300, 200)
        assert {first.pid, second.pid} == {os.getpid()}
        for x, y, title in ((15, 25, "lower"), (110, 110, "upper"), (350, 250, "upper")):
            there = windows.at(x, y)
            assert there is not None
            assert there.title == title
        assert windows.at(900, 700) is None
        upper.unmap()
        display.sync()
        assert [each.title for each in windows.seen()] == ["lower"]
