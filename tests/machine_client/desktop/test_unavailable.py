"""A desktop to which there is no way: everything says why."""

import pytest

from machine_client.desktop.base import ClipboardError, DesktopError, InjectionUnavailable
from machine_client.desktop.unavailable import UnavailableDesktop


def test_every_part_says_why_it_is_not_there() -> None:
    desktop = UnavailableDesktop("there is no way")
    with pytest.raises(InjectionUnavailable, match="there is no way"):
        desktop.open_input()
    view = desktop.open_view()
    for look in (view.displays, view.pointer, view.capture):
        with pytest.raises(DesktopError, match="there is no way"):
            look()
    view.close()
    assert desktop.why_no_clipboard() == "there is no way"
    with pytest.raises(ClipboardError, match="there is no way"):
        desktop.read_clipboard("clipboard")
    (check,) = desktop.checks()
    with pytest.raises(InjectionUnavailable, match="there is no way"):
        check.look()
