"""One Xvnc for all tests of a session that need no other, and the witness of its X server."""

from collections.abc import Iterator

import pytest

from machine_client.desktop.vnc import clipboard, connection
from tests.desktop import Witness
from tests.machine_client.desktop.vnc.xvnc import xvnc
from tests.waiting import WAIT_SECONDS


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is taken to be silent that is only busy."""
    monkeypatch.setattr(connection, "OPEN_SECONDS", WAIT_SECONDS)
    monkeypatch.setattr(clipboard, "ANSWER_SECONDS", WAIT_SECONDS)


@pytest.fixture(scope="session")
def vnc() -> Iterator[tuple[str, int]]:
    """Its X display and its TCP port."""
    with xvnc() as (display, port, _):
        yield display, port


@pytest.fixture(scope="module")
def vnc_witness(vnc: tuple[str, int]) -> Iterator[Witness]:
    witness = Witness(vnc[0])
    yield witness
    witness.close()
