"""A link's core, as a script speaks to it, and a client that comes back at once."""

import os

import pytest

from machine_client.link import reconnecting
from machine_client.work import desktop_watch
from tests.machine_client.session_script import Script


@pytest.fixture
def script() -> Script:
    """On a link that was greeted."""
    return Script()


@pytest.fixture(autouse=True)
def _patient_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No desktop is told to hang where the machine is busy."""
    for name in ("ANSWER_SECONDS", "ELEMENTS_SECONDS"):
        monkeypatch.setattr(desktop_watch, name, 60.0)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short delays, and nothing from the environment."""
    monkeypatch.setattr(reconnecting, "FIRST_DELAY", 0.02)
    for name in tuple(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("FARHAND_"):
            monkeypatch.delenv(name)
