"""What the doctor is told of a session; that all is well with a real one is in the contract."""

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.windows.desktop import WindowsDesktop
from tests.machine_client.desktop.windows.fakes import FakeSession


def test_every_check_of_a_locked_session_says_so(windows: FakeSession) -> None:
    windows.shown = False
    desktop = WindowsDesktop()
    for check in desktop.checks():
        with pytest.raises((DesktopError, InjectionUnavailable), match="locked"):
            check.look()
    assert [check.part for check in desktop.checks()] == ["display", "input", "screen"]


def test_input_of_a_session_without_a_desktop_is_unavailable(windows: FakeSession) -> None:
    windows.state = 4
    with pytest.raises(InjectionUnavailable, match="disconnected"):
        WindowsDesktop().open_input()
    assert WindowsDesktop().why_no_clipboard() is None
