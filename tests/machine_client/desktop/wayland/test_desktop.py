"""A look at a compositor changes nothing on it, and says what is wrong."""

from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.wayland.desktop import WaylandDesktop
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor, fake_compositor


def look(desktop: WaylandDesktop, part: str) -> str:
    (check,) = (check for check in desktop.checks() if check.part == part)
    return check.look()


def test_where_there_is_no_compositor_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(InjectionUnavailable, match=r"No such file.*inside the Wayland session"):
        look(WaylandDesktop(str(tmp_path / "none")), "display")


def test_screen_without_screencopy_is_named_and_inputs_work(tmp_path: Path) -> None:
    with fake_compositor(tmp_path / "w", "zwlr_screencopy_manager_v1") as compositor:
        desktop = WaylandDesktop(compositor.name)
        assert "virtual pointer" in look(desktop, "input")
        assert look(desktop, "display") == "800x600 on Wayland"
        with pytest.raises(DesktopError, match="zwlr_screencopy_manager_v1"):
            look(desktop, "screen")


def test_clipboard_is_there_where_the_compositor_has_its_protocol(
    fake: FakeCompositor, tmp_path: Path
) -> None:
    assert WaylandDesktop(fake.name).why_no_clipboard() is None
    assert WaylandDesktop(str(tmp_path / "not yet")).why_no_clipboard() is None
    with fake_compositor(tmp_path / "w", "zwlr_data_control_manager_v1") as compositor:
        why = WaylandDesktop(compositor.name).why_no_clipboard()
    assert why is not None
    assert "zwlr_data_control_manager_v1" in why
