"""Which desktop is chosen: by name, or by what the machine is."""

import subprocess
import sys
from pathlib import Path

import pytest

from machine_client.desktop.choose import KINDS, choose_desktop, kind_of_desktop
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.desktop.x11.desktop import X11Desktop


def test_desktop_is_the_one_of_its_name_or_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert isinstance(choose_desktop("x11", ":7"), X11Desktop)
    assert isinstance(choose_desktop(None, None), X11Desktop)
    assert isinstance(choose_desktop("wayland", None), WaylandDesktop)


def test_wayland_session_is_chosen_where_there_is_one_unless_a_display_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-1")
    monkeypatch.setenv("DISPLAY", ":0")  # Xwayland
    assert isinstance(choose_desktop(None, None), WaylandDesktop)
    assert isinstance(choose_desktop("x11", None), X11Desktop)
    monkeypatch.delenv("WAYLAND_DISPLAY")
    for display, kind in (
        *((":0", X11Desktop), ("host:1.0", X11Desktop)),
        *(("wayland-0", WaylandDesktop), ("/run/user/1000/wayland-0", WaylandDesktop)),
    ):
        assert isinstance(choose_desktop(None, display), kind)


def test_vnc_server_that_is_named_is_the_desktop_unless_another_kind_is() -> None:
    server = VncServer("127.0.0.1", 5900)
    assert kind_of_desktop(None, server) == "vnc"
    assert isinstance(choose_desktop(None, ":7", server), VncDesktop)
    assert isinstance(choose_desktop("vnc", None, server), VncDesktop)
    assert isinstance(choose_desktop("x11", ":7", server), X11Desktop)
    nowhere = choose_desktop("vnc", ":7")
    assert "--vnc HOST:PORT" in str(nowhere.why_no_clipboard())


def test_windows_has_its_own_desktop_and_can_be_told_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = choose_desktop("windows", None)
    assert "does not run Windows" in str(here.why_no_clipboard())
    monkeypatch.setattr(sys, "platform", "win32")
    assert kind_of_desktop(None, None) == kind_of_desktop(":7", None) == "windows"
    assert kind_of_desktop(None, VncServer("a", 1)) == "vnc"


def test_machine_without_a_way_to_its_desktop_says_so_and_can_be_told_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert isinstance(choose_desktop(None, None), UnavailableDesktop)
    assert kind_of_desktop(None, None) is None
    assert isinstance(choose_desktop("x11", ":7"), X11Desktop)
    assert isinstance(choose_desktop(None, None, VncServer("a", 1)), VncDesktop)


def test_choosing_needs_no_library_of_any_desktop_and_no_display() -> None:
    """Nor does anything else but the desktop's own room: it is imported when it is chosen."""
    script = """
import sys
for library in ("Xlib", "pynput", "mss"):
    sys.modules[library] = None
import machine_client.cli
"""
    project = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", script], cwd=project, env={}, check=True)
    assert KINDS
