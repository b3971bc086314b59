"""A desktop that is switched away in the middle of an input, on a session under Wine.

The desktop that is shown is only said to be another: Wine switches none.
"""

from collections.abc import Iterator

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.desktop.windows import api
from machine_client.desktop.windows.desktop import WindowsDesktop
from machine_client.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import ClickMouse, DragMouse, MoveMouse, PressKeys, TypeText
from tests.machine_client.desktop.contract.inputs import interrupted_once, perform
from tests.machine_client.desktop.contract.keys import END
from tests.machine_client.desktop.contract.rig import Rig
from tests.machine_client.desktop.windows.rig import windows_rig


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with windows_rig() as rig:
        yield rig


def test_drag_that_is_cut_off_by_the_lock_screen_fails_and_is_released_after_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    injector = DesktopInjector(rig.desktop)
    drag = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=900, to_y=0, duration=60))

    def locks() -> bool:
        if injector.injected > 3:
            monkeypatch.setattr(api, "open_input_desktop", lambda *_: None)
            return True
        return False

    failed = interrupted_once(injector, drag, locks)
    assert (failed.code, injector.is_lost) == ("display_lost", True)
    assert "locked" in failed.message
    with pytest.raises(InjectionUnavailable, match="The desktop is gone"):
        injector.prepare(MoveMouse(x=1, y=1))
    with pytest.raises(InjectionUnavailable, match="locked"):
        DesktopInjector(rig.desktop)
    monkeypatch.undo()
    after = DesktopInjector(rig.desktop)
    injector.close()
    assert rig.witness.held() == frozenset()
    assert perform(after, MoveMouse(x=5, y=6)).x == 5
    after.close()


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
