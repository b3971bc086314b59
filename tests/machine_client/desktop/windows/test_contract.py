"""A session of Windows does what every desktop must do, as far as Wine is one.

Sessions that end and come back are not to be had under Wine: `test_session` has what is known.
"""

from collections.abc import Iterator

import pytest

from tests.machine_client.desktop.contract.clipboards import ClipboardContract
from tests.machine_client.desktop.contract.gestures import GestureContract
from tests.machine_client.desktop.contract.holds import HoldContract, OthersContract
from tests.machine_client.desktop.contract.inputs import MouseContract
from tests.machine_client.desktop.contract.keys import KeyContract
from tests.machine_client.desktop.contract.rig import Rig
from tests.machine_client.desktop.contract.views import ViewContract
from tests.machine_client.desktop.windows.rig import windows_rig


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with windows_rig() as rig:
        yield rig


TestMouse = MouseContract
TestKeys = KeyContract
TestGestures = GestureContract
TestHolds = HoldContract
TestOthers = OthersContract
TestView = ViewContract
TestClipboard = ClipboardContract
