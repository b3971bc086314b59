"""A link's core, as a script speaks to it, and a client that comes back at once."""

import os

import pytest

from machine_client.link import reconnecting
from tests.machine_client.session_script import Script


@pytest.fixture
def script() -> Script:
    """On a link that was greeted."""
    return Script()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short delays, and nothing from the environment."""
    monkeypatch.setattr(reconnecting, "FIRST_DELAY", 0.02)
    for name in tuple(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("FARHAND_"):
            monkeypatch.delenv(name)
