"""What sway's windows hide, as far as no program of the tests shows it."""

from collections.abc import Iterator

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.sway.windows import SwayWindows
from tests.machine_client.desktop.wayland.compositor import Sway, sway


@pytest.fixture(scope="module")
def alone() -> Iterator[Sway]:
    """A sway on which nothing is."""
    with sway() as compositor, compositor.told_of():
        yield compositor


def test_empty_sway_tells_all(alone: Sway) -> None:
    windows = SwayWindows(alone.name)
    windows.demand_all_told()
    assert (windows.seen(), windows.at(5, 5), windows.untold_menus(7)) == ([], None, {7: 0})


def test_bar_that_comes_over_windows_is_refused(alone: Sway) -> None:
    windows = SwayWindows(alone.name)
    assert alone.tell("bar bar-0 mode hide")
    with pytest.raises(DesktopError, match="bar comes over windows"):
        windows.demand_all_told()
    assert alone.tell("bar bar-0 mode dock")
    windows.demand_all_told()


def test_display_that_nobody_names_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with pytest.raises(DesktopError, match="XDG_RUNTIME_DIR"):
        SwayWindows("wayland-7").seen()
