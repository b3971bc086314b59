"""Whether anything reaches the desktop is known, and told in words; Windows is played.

None of these states can be had under Wine: real ones were never seen.
"""

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost
from machine_client.desktop.windows import api, session
from tests.machine_client.desktop.windows.fakes import HANDLES, FakeSession


def test_session_with_its_desktop_shown_is_available(windows: FakeSession) -> None:
    assert session.why_unavailable() is None
    session.check()


def test_session_that_does_not_say_who_looks_is_available(windows: FakeSession) -> None:
    windows.state = None
    assert session.why_unavailable() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shown": False}, "locked, or Windows asks for consent"),
        ({"state": 4}, "this session is disconnected"),
        ({"names": {1: "Service-0x0-3e7$", 2: "Default", 3: "Default"}}, "runs as a service"),
        ({"names": {1: "WinSta0", 2: "Default", 3: "Winlogon"}}, r"another desktop \(Winlogon\)"),
    ],
)
def test_what_keeps_inputs_away_is_told(
    windows: FakeSession, change: dict[str, object], said: str
) -> None:
    for name, value in change.items():
        setattr(windows, name, value)
    assert session.why_unavailable() is not None
    with pytest.raises(DesktopLost, match=f"(?i){said}"):
        session.check()
    assert set(HANDLES) == {"station", "own", "shown"}


def test_window_with_higher_rights_is_refused_and_one_with_ours_is_not(
    windows: FakeSession,
) -> None:
    windows.levels |= {10: 0x2000, 11: 0x3000}
    windows.window = 10
    session.check_window_in_front()
    session.check_window_at(1, 2)
    windows.window = 11
    for check in (session.check_window_in_front, lambda: session.check_window_at(1, 2)):
        with pytest.raises(DesktopError, match="higher rights") as caught:
            check()
        assert caught.value.code == "window_elevated"


def test_window_that_keeps_its_rights_from_us_has_higher_ones_unless_ours_are_high(
    windows: FakeSession,
) -> None:
    windows.window = 12
    with pytest.raises(DesktopError, match="higher rights"):
        session.check_window_in_front()
    windows.levels[0] = 0x3000
    session.check_window_in_front()


def test_window_that_is_gone_is_tried(
    windows: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.check_window_in_front()
    windows.window = 12
    monkeypatch.setattr(api, "last_error", lambda: 87)
    session.check_window_in_front()
