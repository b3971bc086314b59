"""QEMU's own VNC server does what every desktop must do, but for what is said here."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import AnyInput, ClickMouse, PressKeys
from tests.machine_client.desktop.contract.gestures import GestureContract
from tests.machine_client.desktop.contract.holds import HoldContract
from tests.machine_client.desktop.contract.inputs import MouseContract, perform
from tests.machine_client.desktop.contract.lives import LifeContract
from tests.machine_client.desktop.contract.rig import MortalRig, Rig, saw
from tests.machine_client.desktop.vnc.qemu import Qemu, qemu
from tests.machine_client.desktop.vnc.rig import BUTTONS, MortalVnc
from tests.machine_client.pressing import killed_after
from tests.waiting import eventually


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with qemu(tmp_path_factory.mktemp("qemu")) as machine:
        # There is nothing on it to paint, and to type into.
        witness: Any = machine

        def leave_held(*bodies: AnyInput) -> None:
            killed_after(f"127.0.0.1:{machine.port}", *bodies, kind="vnc")

        desktop = VncDesktop(VncServer("127.0.0.1", machine.port))
        yield Rig(desktop, witness, {}, leave_held, tells_left_pressed=False, buttons=BUTTONS)


@pytest.fixture(autouse=True)
def nobody_leaves(rig: Rig) -> None:
    """Whoever leaves has QEMU let go of all keys, whoever holds them: so wait for the last ones."""
    gc.collect()
    machine: Any = rig.witness
    eventually(lambda: not machine.tell("query-vnc").get("clients") or None, "all have left")


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[MortalRig]:
    machine = Qemu(tmp_path)
    machine.start()
    yield MortalVnc(machine)
    machine.kill()


class TestMouse(MouseContract):
    # QEMU 7.2 has no wheel that is turned left and right.
    @pytest.mark.parametrize("direction", ["up", "down"])
    def test_scroll_turns_the_wheel_one_notch_for_each_step(
        self, rig: Rig, injector: DesktopInjector, direction: Any
    ) -> None:
        super().test_scroll_turns_the_wheel_one_notch_for_each_step(rig, injector, direction)

    @pytest.mark.parametrize("button", ["left", "middle", "right"])
    @pytest.mark.parametrize("count", [1, 3])
    def test_click_presses_and_releases_as_often_as_asked(
        self, rig: Rig, injector: DesktopInjector, button: Any, count: int
    ) -> None:
        super().test_click_presses_and_releases_as_often_as_asked(rig, injector, button, count)


class TestHolds(HoldContract):
    def test_what_a_killed_client_left_pressed_is_released_and_told(self, rig: Rig) -> None:
        """QEMU lets go of keys itself, and of no button before it is clicked again."""
        rig.leave_held(ClickMouse(x=40, y=50, down=True), PressKeys(text="ctrl", down=True))
        eventually(lambda: rig.witness.held() == {"left"}, "QEMU has let go of keys")
        injector = DesktopInjector(rig.desktop)
        assert injector.take_released() is None
        assert rig.witness.held() == {"left"}
        rig.witness.take()
        perform(injector, ClickMouse(x=60, y=70))
        saw(rig.witness.take(), "move", "down left", "up left")
        assert rig.witness.held() == frozenset()
        injector.close()


TestGestures = GestureContract
TestLife = LifeContract
