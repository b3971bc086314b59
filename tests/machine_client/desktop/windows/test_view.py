"""A session that shows nothing says why; what one shows is in the contract."""

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.windows.view import WindowsView
from tests.machine_client.desktop.windows.fakes import FakeSession


def test_session_that_shows_nothing_says_why_at_every_look(windows: FakeSession) -> None:
    windows.shown = False
    view = WindowsView()
    codes = []
    for look in (view.displays, view.pointer, view.capture):
        with pytest.raises(DesktopError, match="session is locked") as caught:
            look()
        codes.append(caught.value.code)
    assert codes == ["display_unknown", "display_unknown", "screen_unavailable"]
    view.close()
    windows.shown = True
    assert (view.pointer().x, view.pointer().y) == (500, 300)
