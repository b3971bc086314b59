"""A desktop that goes away in the middle of an input, on a session under Wine.

Wine locks nothing, disconnects nobody and switches no desktop: that part is played, by what Windows
says of the session.  The inputs are real, and so is a program on a desktop that nobody is shown.
"""

import ctypes
import re
import threading
from collections.abc import Callable, Iterator
from ctypes import wintypes
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.desktop.windows import api
from machine_client.desktop.windows.desktop import WindowsDesktop
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import AnyInput, ClickMouse, DragMouse, MoveMouse, PressKeys, TypeText
from tests.machine_client.desktop.contract.inputs import interrupted_once, perform
from tests.machine_client.desktop.contract.keys import END
from tests.machine_client.desktop.contract.rig import Rig
from tests.machine_client.desktop.windows.rig import windows_rig


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with windows_rig() as rig:
        yield rig


def lock(patch: pytest.MonkeyPatch) -> None:
    """The lock screen is shown, which no program of a user may open."""
    patch.setattr(api, "open_input_desktop", lambda *_: None)


def disconnect(patch: pytest.MonkeyPatch) -> None:
    """Whoever sat before the session has closed the connection to it."""
    disconnected = ctypes.c_int(4)

    def state(_server: Any, _session: Any, _kind: Any, answer: Any, _size: Any) -> bool:
        answer._obj.value = ctypes.addressof(disconnected)
        return True

    patch.setattr(api, "query_session_information", state)
    patch.setattr(api, "free_session_information", lambda _: None)


def switch_away(patch: pytest.MonkeyPatch) -> None:
    """Another desktop of the same user has the keyboard."""
    user32 = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    second = _second_desktop(user32)
    patch.setattr(api, "open_input_desktop", lambda *_: second)
    patch.setattr(api, "close_desktop", lambda _: True)


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (lock, "locked"),
        (disconnect, "this session is disconnected"),
        (switch_away, r"another desktop \(second\) is shown"),
    ],
)
def test_drag_whose_desktop_goes_away_fails_and_is_released_once_that_is_back(
    rig: Rig,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[pytest.MonkeyPatch], None],
    said: str,
) -> None:
    injector = DesktopInjector(rig.desktop)
    drag = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=900, to_y=0, duration=60))

    def goes_away() -> bool:
        if injector.injected > 3:
            happens(monkeypatch)
            return True
        return False

    failed = interrupted_once(injector, drag, goes_away)
    assert (failed.code, injector.is_lost) == ("display_lost", True)
    assert re.search(said, failed.message, re.IGNORECASE), failed.message
    assert 3 < failed.injected_at_least <= len(rig.witness.take())
    with pytest.raises(InjectionUnavailable, match="The desktop is gone"):
        injector.prepare(MoveMouse(x=1, y=1))
    with pytest.raises(InjectionUnavailable, match=f"(?i){said}"):
        DesktopInjector(rig.desktop)
    monkeypatch.undo()
    after = DesktopInjector(rig.desktop)
    injector.close()
    assert rig.witness.held() == frozenset()
    assert perform(after, MoveMouse(x=5, y=6)).x == 5
    after.close()


def test_program_on_a_desktop_that_nobody_is_shown_can_do_nothing_and_says_why(rig: Rig) -> None:
    refusals: list[str] = []

    def run() -> None:
        user32: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
        user32.SetThreadDesktop.argtypes = (wintypes.HANDLE,)
        assert user32.SetThreadDesktop(_second_desktop(user32))
        with pytest.raises(InjectionUnavailable) as refused:
            rig.desktop.open_input()
        refusals.append(str(refused.value))
        with pytest.raises(DesktopError) as unseen:
            rig.desktop.open_view().capture()
        refusals.append(str(unseen.value))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(refusals) == 2
    for refusal in refusals:
        assert "nother desktop (Default) is shown than that of this program (second)" in refusal


def _second_desktop(user32: Any) -> int:
    make = user32.CreateDesktopW
    make.restype = wintypes.HANDLE
    make.argtypes = (
        *(wintypes.LPCWSTR, ctypes.c_void_p, ctypes.c_void_p, wintypes.DWORD, wintypes.DWORD),
        ctypes.c_void_p,
    )
    desktop = make("second", None, None, 0, 0x10000000, None)  # GENERIC_ALL
    assert desktop
    return int(desktop)


def test_nothing_that_was_sent_behind_the_lock_screen_is_counted(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    injector = DesktopInjector(rig.desktop)
    begin = injector.prepare(ClickMouse(x=4, y=5))
    monkeypatch.setattr(api, "open_input_desktop", lambda *_: None)
    with pytest.raises(InjectionFailed) as caught:
        begin()
    assert (caught.value.code, caught.value.injected_at_least) == ("display_lost", 0)
    monkeypatch.undo()
    injector.close()
    assert rig.witness.held() == frozenset()


@pytest.mark.parametrize("body", [ClickMouse(), PressKeys(text="ctrl+x"), TypeText(text="é")])
def test_input_that_the_system_refuses_fails_and_counts_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, body: AnyInput
) -> None:
    """The system's own refusal: of structures that do not have the size that it is told."""
    # Imported late: on another system it cannot be.
    from pynput._util import win32  # noqa: PLC0415

    injector = DesktopInjector(rig.desktop)
    rig.witness.take()
    send: Any = win32.SendInput
    monkeypatch.setattr(
        win32, "SendInput", lambda count, events, size: send(count, events, size + 1)
    )
    with pytest.raises(InjectionFailed) as caught:
        perform(injector, body)
    assert (caught.value.code, caught.value.injected_at_least) == ("input_not_taken", 0)
    assert rig.witness.take() == []
    monkeypatch.undo()
    injector.close()
    assert rig.witness.held() == frozenset()


def test_what_is_typed_under_caps_lock_is_as_it_was_asked_for(rig: Rig) -> None:
    injector = DesktopInjector(rig.desktop)
    with rig.witness.text_field() as field:
        perform(injector, PressKeys(text="caps_lock"))
        try:
            perform(injector, TypeText(text="aBc É1" + END))
            assert field.typed_before(END) == "aBc É1"
        finally:
            perform(injector, PressKeys(text="caps_lock"))
    injector.close()


def test_input_whose_session_is_lost_says_so_at_each_confirmation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desktop = WindowsDesktop().open_input()
    monkeypatch.setattr(api, "open_input_desktop", lambda *_: None)
    for call in (desktop.confirm, desktop.pointer, desktop.look_at_displays):
        with pytest.raises(DesktopError, match="locked"):
            call()
    assert desktop.effect == "happened"
    with pytest.raises(DesktopLost):
        desktop.confirm()
    monkeypatch.undo()
    desktop.close()
    desktop.close()
