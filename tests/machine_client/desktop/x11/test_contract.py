"""An X display does what every desktop must do."""

from collections.abc import Iterator

import pytest

from tests.desktop import Witness, unsteady_display
from tests.machine_client.desktop.contract.clipboards import ClipboardContract
from tests.machine_client.desktop.contract.gestures import GestureContract
from tests.machine_client.desktop.contract.holds import HoldContract, OthersContract
from tests.machine_client.desktop.contract.inputs import MouseContract
from tests.machine_client.desktop.contract.keys import KeyContract
from tests.machine_client.desktop.contract.lives import LifeContract
from tests.machine_client.desktop.contract.rig import MortalRig, Rig
from tests.machine_client.desktop.contract.views import ViewContract
from tests.machine_client.desktop.x11.rig import MortalX11, refused_connections, x11_rig


@pytest.fixture(scope="module")
def rig(
    display: str, session_witness: Witness, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with x11_rig(display, session_witness, tmp_path_factory.mktemp("typed")) as rig:
        yield rig


@pytest.fixture
def mortal() -> Iterator[MortalRig]:
    with unsteady_display() as display, refused_connections():
        yield MortalX11(display)


TestMouse = MouseContract
TestKeys = KeyContract
TestGestures = GestureContract
TestHolds = HoldContract
TestOthers = OthersContract
TestView = ViewContract
TestClipboard = ClipboardContract
TestLife = LifeContract
