"""A network that takes its time, as that of a busy machine does."""

import pytest

from machine_client.doctor import network_check
from tests.waiting import WAIT_SECONDS


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever answers is heard; a test in which nobody does says how long that is waited for."""
    for name in ("NAME_SECONDS", "PORT_SECONDS", "HANDSHAKE_SECONDS"):
        monkeypatch.setattr(network_check, name, WAIT_SECONDS)


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers the handshake, and that is soon noticed."""
    monkeypatch.setattr(network_check, "HANDSHAKE_SECONDS", 0.5)


@pytest.fixture
def answered_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not speak as expected answers once he is spoken to otherwise."""
    monkeypatch.setattr(network_check, "PROBE_SECONDS", WAIT_SECONDS)
