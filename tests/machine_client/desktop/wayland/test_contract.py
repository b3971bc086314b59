"""A Wayland compositor does what every desktop must do, on two screens of different scales.

What others hold no Wayland client is told, so that part of the contract is not for it.
"""

from collections.abc import Iterator

import pytest

from tests.machine_client.desktop.contract.clipboards import ClipboardContract
from tests.machine_client.desktop.contract.gestures import GestureContract
from tests.machine_client.desktop.contract.holds import HoldContract
from tests.machine_client.desktop.contract.inputs import MouseContract
from tests.machine_client.desktop.contract.keys import KeyContract
from tests.machine_client.desktop.contract.lives import LifeContract
from tests.machine_client.desktop.contract.rig import MortalRig, Rig
from tests.machine_client.desktop.contract.views import ViewContract
from tests.machine_client.desktop.wayland.compositor import sway
from tests.machine_client.desktop.wayland.rig import MortalWayland, wayland_rig

SCREENS = (
    "output HEADLESS-1 resolution 1280x800 position 0 0 scale 1",
    "output HEADLESS-2 resolution 1200x900 position 1280 -100 scale 1.5",
)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with (
        sway(*SCREENS) as compositor,
        wayland_rig(compositor, tmp_path_factory.mktemp("typed")) as rig,
    ):
        yield rig


@pytest.fixture
def mortal() -> Iterator[MortalRig]:
    with sway() as compositor:
        yield MortalWayland(compositor)


TestMouse = MouseContract
TestKeys = KeyContract
TestGestures = GestureContract
TestHolds = HoldContract
TestView = ViewContract
TestClipboard = ClipboardContract
TestLife = LifeContract
