"""A VNC server's desktop does what every desktop must do."""

from collections.abc import Iterator

import pytest

from tests.desktop import Witness
from tests.machine_client.desktop.contract.clipboards import ClipboardContract
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


class TestMouse(MouseContract): ...


class TestKeys(KeyContract): ...


class TestHolds(HoldContract): ...


class TestView(ViewContract): ...


class TestClipboard(ClipboardContract): ...


class TestLife(LifeContract): ...
