"""Contract: what we hold, what others hold, and what a client that died had left pressed."""

from typing import Any

import pytest

from machine_client.work.injector import DesktopInjector, InjectionFailed
from schemas.inputs.bodies import AnyInput, ClickMouse, PressKeys, ScrollMouse, TypeText
from schemas.inputs.key_combinations import parse_combination
from schemas.inputs.outcomes import Point
from schemas.link.messages import Released
from tests.machine_client.desktop.contract.inputs import (
    CLICK,
    DRAG,
    InjectingContract,
    perform,
    place_of,
)
from tests.machine_client.desktop.contract.rig import Rig, saw


class HoldContract(InjectingContract):
    """Down and up as inputs of their own."""

    @pytest.mark.parametrize(
        ("hold", "release", "name"),
        [
            (ClickMouse(button="left", down=True), ClickMouse(button="left", down=False), "left"),
            (
                ClickMouse(button="right", down=True, clicks=3),
                ClickMouse(button="right", down=False, clicks=3),
                "right",
            ),
            (PressKeys(text="ctrl", down=True), PressKeys(text="ctrl", down=False), "ctrl"),
            (PressKeys(text="x", down=True), PressKeys(text="x", down=False), "x"),
        ],
    )
    def test_press_and_release_are_two_inputs_and_count_once(
        self, rig: Rig, injector: DesktopInjector, hold: AnyInput, release: AnyInput, name: str
    ) -> None:
        perform(injector, hold)
        saw(rig.witness.take(), f"down {name}")
        assert len(rig.witness.held()) == 1
        perform(injector, release)
        saw(rig.witness.take(), f"up {name}")
        assert rig.witness.held() == frozenset()
        injector.release_all()
        assert rig.witness.take() == []

    @pytest.mark.parametrize("body", [ClickMouse(down=False), PressKeys(text="ctrl+x", down=False)])
    def test_releasing_what_nobody_holds_succeeds_without_an_event(
        self, rig: Rig, injector: DesktopInjector, body: AnyInput
    ) -> None:
        assert perform(injector, body) == Point(x=500, y=300)
        assert injector.injected == 0
        assert rig.witness.take() == []

    def test_holding_a_modifier_twice_presses_once(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        for down in (True, True, False):
            perform(injector, PressKeys(text="ctrl", down=down))
        saw(rig.witness.take(), "down ctrl", "up ctrl")

    @pytest.mark.parametrize(
        ("body", "name"), [(ClickMouse(down=True), "left"), (PressKeys(text="x", down=True), "x")]
    )
    def test_holding_again_is_up_and_down(
        self, rig: Rig, injector: DesktopInjector, body: AnyInput, name: str
    ) -> None:
        for _ in range(2):
            perform(injector, body)
        saw(rig.witness.take(), f"down {name}", f"up {name}", f"down {name}")

    def test_keys_that_we_hold_count_and_stay_until_released(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="ctrl", down=True))
        rig.witness.take()
        perform(injector, PressKeys(text="x ctrl+x"))
        saw(rig.witness.take(), *["down x", "up x"] * 2)
        perform(injector, PressKeys(text="ctrl", down=False))
        saw(rig.witness.take(), "up ctrl")

    def test_a_key_that_we_hold_can_be_typed_and_stays_held(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="x", down=True))
        rig.witness.take()
        perform(injector, PressKeys(text="x"))
        saw(rig.witness.take(), "up x", "down x")
        assert len(rig.witness.held()) == 1

    @pytest.mark.parametrize("body", [CLICK, DRAG, ClickMouse(x=30, y=40, clicks=2)])
    def test_a_button_that_we_hold_goes_up_before_any_move_and_ends_released(
        self, rig: Rig, injector: DesktopInjector, body: AnyInput
    ) -> None:
        perform(injector, ClickMouse(down=True))
        rig.witness.take()
        perform(injector, body)
        first, *rest = rig.witness.take()
        saw([first], "up left")
        assert place_of(first) == (500, 300)
        saw(rest[:2], "move", "down left")
        saw(rest[-1:], "up left")
        assert injector.injected == len(rest) + 1
        injector.release_all()
        assert rig.witness.take() == []

    def test_release_all_releases_exactly_what_is_held(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, ClickMouse(down=True))
        perform(injector, PressKeys(text="ctrl+x", down=True))
        rig.witness.take()
        injector.release_all()
        saw(rig.witness.take(), "up left", "up x", "up ctrl")
        injector.release_all()
        assert rig.witness.take() == []

    def test_what_is_held_goes_up_when_the_desktop_is_closed(self, rig: Rig) -> None:
        desktop = rig.desktop.open_input()
        desktop.press("left")
        desktop.hold_keys(parse_combination("ctrl+x"))
        desktop.confirm()
        assert len(rig.witness.held()) == 3
        desktop.close()
        assert rig.witness.held() == frozenset()
        desktop.close()

    def test_what_a_killed_client_left_pressed_is_released_and_told(self, rig: Rig) -> None:
        rig.leave_held(ClickMouse(x=40, y=50, down=True), PressKeys(text="ctrl", down=True))
        left = rig.witness.held()
        for check in rig.desktop.checks():
            check.look()
        assert rig.witness.held() == left
        injector = DesktopInjector(rig.desktop)
        # Some systems release a part of it by themselves: then that is not told.
        buttons = ["left"] if "left" in left else []
        released = Released(buttons=buttons, keys=int("ctrl" in left))
        told = released if left and rig.tells_left_pressed else None
        assert injector.take_released() == told
        assert injector.take_released() is None
        assert rig.witness.held() == frozenset()
        injector.close()
        again = DesktopInjector(rig.desktop)
        assert again.take_released() is None
        again.close()


OTHERS = [
    (CLICK, "left", "Somebody else holds down the left button of the mouse"),
    (ClickMouse(button="right", down=True), "right", "the right button"),
    (ClickMouse(button="middle", down=False, x=1, y=1), "middle", "the middle button"),
    (DRAG, "left", "the left button"),
    (ScrollMouse(direction="down", amount=2, x=3, y=3), "wheel down", "wheel, turned down"),
    (ClickMouse(x=3, y=3, modifiers=("alt", "ctrl")), "left", "the left button"),
    (ClickMouse(x=3, y=3, modifiers=("alt", "ctrl")), "ctrl", "holds down the key ctrl"),
    (PressKeys(text="x", hold=0.3), "x", "Somebody else holds down the key x"),
    (PressKeys(text="y ctrl+x"), "x", "Somebody else holds down the key x"),
    (PressKeys(text="y ctrl+x", down=True), "x", "Somebody else holds down the key x"),
    (PressKeys(text="x", down=False), "x", "Somebody else holds down the key x"),
    (TypeText(text="secret yx"), "x", "Somebody else holds down a key that the text needs"),
]


class OthersContract(InjectingContract):
    """Somebody else holds what an input needs."""

    @pytest.mark.parametrize(("body", "what", "message"), OTHERS)
    def test_what_somebody_else_holds_is_refused_before_any_event(
        self, rig: Rig, injector: DesktopInjector, body: Any, what: str, message: str
    ) -> None:
        for holder, hold in rig.others.items():
            if (held := hold(what)) is None:
                continue
            with held:
                rig.witness.take()
                with pytest.raises(InjectionFailed) as caught:
                    perform(injector, body)
                # A key that is held may press itself again meanwhile.
                ours = [each for each in rig.witness.take() if what not in each.names]
                assert ours == [], holder
            assert (caught.value.code, caught.value.injected_at_least) == ("already_down", 0)
            assert message in caught.value.message
            perform(injector, body)
            injector.release_all()

    def test_anything_else_is_free(self, rig: Rig, injector: DesktopInjector) -> None:
        for hold in rig.others.values():
            held = hold("right")
            assert held is not None
            with held:
                rig.witness.take()
                perform(injector, CLICK)
                perform(injector, ScrollMouse(direction="up", amount=1))
                perform(injector, PressKeys(text="x"))
                saw(
                    rig.witness.take(),
                    *("move", "down left", "up left", "wheel up", "down x", "up x"),
                )
            perform(injector, ClickMouse(x=500, y=300))
