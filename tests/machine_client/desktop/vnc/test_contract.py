"""A VNC server's desktop does what every desktop must do."""

from collections.abc import Iterator

import pytest

from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import PressKeys
from tests.desktop import Witness, set_layout
from tests.machine_client.desktop.contract.clipboards import ClipboardContract
from tests.machine_client.desktop.contract.gestures import GestureContract
from tests.machine_client.desktop.contract.holds import HoldContract
from tests.machine_client.desktop.contract.inputs import MouseContract
from tests.machine_client.desktop.contract.keys import KeyContract
from tests.machine_client.desktop.contract.lives import LifeContract
from tests.machine_client.desktop.contract.rig import MortalRig, Rig
from tests.machine_client.desktop.contract.views import ViewContract
from tests.machine_client.desktop.vnc.rig import MortalVnc, vnc_rig
from tests.machine_client.desktop.vnc.xvnc import UnsteadyXvnc


@pytest.fixture(scope="module")
def rig(
    vnc: tuple[str, int], vnc_witness: Witness, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with vnc_rig(*vnc, vnc_witness, tmp_path_factory.mktemp("typed")) as rig:
        yield rig


@pytest.fixture
def mortal() -> Iterator[MortalRig]:
    server = UnsteadyXvnc()
    server.start()
    yield MortalVnc(server)
    server.kill()


TestMouse = MouseContract


class TestKeys(KeyContract):
    @pytest.mark.parametrize("name", ["break", "f16", "browser_stop"])
    def test_key_that_the_layout_lacks_is_itself_right_after_that_was_set(
        self, rig: Rig, injector: DesktopInjector, vnc: tuple[str, int], name: str
    ) -> None:
        for layout in ("de", "us"):
            set_layout(vnc[0], layout)
            rig.witness.take()
            injector.prepare(PressKeys(text=name))()
            events = rig.witness.take()
            assert [name in event.names for event in events[-2:]] == [True, True], events


TestGestures = GestureContract
TestHolds = HoldContract
TestView = ViewContract
TestClipboard = ClipboardContract
TestLife = LifeContract
