"""Compositors: a real one for all tests, and one that misbehaves for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from machine_client.desktop.wayland import view
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor, fake_compositor
from tests.waiting import WAIT_SECONDS


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen is not taken to be switched off where the machine is busy."""
    monkeypatch.setattr(view, "_PATIENCE_SECONDS", WAIT_SECONDS)


@pytest.fixture(scope="session")
def compositor() -> Iterator[Sway]:
    """A sway with one screen of 1280 x 800."""
    with sway() as compositor:
        yield compositor


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeCompositor]:
    """A compositor that offers everything, and does what the test says."""
    with fake_compositor(tmp_path / "wayland-7") as compositor:
        yield compositor
