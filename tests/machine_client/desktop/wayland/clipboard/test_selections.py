"""The clipboards that a compositor has."""

from pathlib import Path

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.wayland.clipboard.selections import opened
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor, fake_compositor


def test_older_compositor_has_no_primary_selection(fake: FakeCompositor) -> None:
    device = opened(fake.name)
    device.check("clipboard")
    with pytest.raises(ClipboardError, match="primary"):
        device.check("primary")
    device.connection.close()


def test_compositor_without_data_control_has_none(tmp_path: Path) -> None:
    with (
        fake_compositor(tmp_path / "w", "zwlr_data_control_manager_v1") as compositor,
        pytest.raises(ClipboardError, match="zwlr_data_control_manager_v1") as caught,
    ):
        opened(compositor.name)
    assert caught.value.code == "clipboard_unavailable"
