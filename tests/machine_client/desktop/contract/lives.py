"""Contract: a desktop that ends, and comes back."""

from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import ClickMouse, MoveMouse
from schemas.inputs.key_combinations import parse_combination
from schemas.inputs.outcomes import Point
from tests.machine_client.desktop.contract.rig import MortalRig


class LifeContract:
    """One `Desktop` outlives what it names."""

    def test_input_whose_desktop_has_ended_is_lost_at_every_call_and_closes(
        self, mortal: MortalRig
    ) -> None:
        desktop: Any = mortal.desktop.open_input()
        desktop.press("left")
        desktop.hold_keys(parse_combination("ctrl"))
        desktop.confirm()
        arrived = desktop.confirmed
        mortal.kill()
        calls = (
            lambda: (desktop.move(1, 1), desktop.confirm()),
            lambda: (desktop.press("right"), desktop.confirm()),
            lambda: desktop.type_keys(parse_combination("x"), None),
            lambda: (desktop.scroll("up"), desktop.confirm()),
            desktop.pointer,
            desktop.confirm,
        )
        for call in calls:
            with pytest.raises(DesktopLost) as caught:
                call()
            assert caught.value.code == "display_lost"
        assert desktop.confirmed == arrived
        desktop.close()
        desktop.close()

    def test_injection_fails_once_and_is_then_unavailable(self, mortal: MortalRig) -> None:
        injector = DesktopInjector(mortal.desktop)
        begin = injector.prepare(MoveMouse(x=1, y=1))
        mortal.kill()
        with pytest.raises(InjectionFailed) as failed:
            begin()
        assert (failed.value.code, failed.value.injected_at_least) == ("display_lost", 0)
        assert injector.is_lost
        with pytest.raises(InjectionUnavailable, match="The desktop is gone"):
            injector.prepare(MoveMouse(x=1, y=1))
        injector.release_all()
        injector.close()

    def test_desktop_that_is_gone_says_why_and_one_that_is_back_is_opened(
        self, mortal: MortalRig
    ) -> None:
        desktop, view = mortal.desktop, mortal.desktop.open_view()
        looks = (view.displays, view.pointer, view.capture)
        for look in looks:
            look()
        before = DesktopInjector(desktop)
        before.prepare(ClickMouse(x=4, y=5, down=True))()
        mortal.kill()
        for look in looks:
            with pytest.raises(DesktopError):
                look()
        with pytest.raises(InjectionUnavailable) as refused:
            desktop.open_input()
        assert str(refused.value)
        with pytest.raises((DesktopError, InjectionUnavailable)):
            desktop.checks()[0].look()
        mortal.start()
        for look in looks:
            look()
        after = DesktopInjector(desktop)
        assert after.take_released() is None
        assert after.prepare(MoveMouse(x=3, y=4))() == view.pointer() == Point(x=3, y=4)
        before.close()
        assert after.prepare(MoveMouse(x=5, y=6))() == Point(x=5, y=6)
        after.close()
        view.close()
