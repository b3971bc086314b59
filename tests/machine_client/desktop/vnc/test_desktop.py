"""What can be wrong with a VNC server, as `farhand-machine doctor` shows it."""

from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop
from tests.machine_client.desktop.vnc.plain_server import plain_server
from tests.processes import free_port


def test_checks_say_what_the_server_can_do(vnc: tuple[str, int]) -> None:
    checks = VncDesktop(VncServer("127.0.0.1", vnc[1])).checks()
    display, input_, screen = (check.look() for check in checks)
    assert display == f"1280x800, of the VNC server 127.0.0.1:{vnc[1]}"
    assert "its clipboard takes Unicode" in input_
    assert screen == "operators can see 1280x800"
    with plain_server() as server:
        check = VncDesktop(VncServer("127.0.0.1", server.port)).checks()[1]
        assert "its clipboard takes Latin-1 alone" in check.look()


def test_every_look_says_why_not(tmp_path: Path) -> None:
    port = free_port()
    for check in VncDesktop(VncServer("127.0.0.1", port)).checks():
        with pytest.raises((DesktopError, InjectionUnavailable), match="Connection refused"):
            check.look()
    file = tmp_path / "missing"
    for check in VncDesktop(VncServer("127.0.0.1", port, file)).checks():
        with pytest.raises((DesktopError, InjectionUnavailable), match="cannot be read"):
            check.look()
    with pytest.raises(DesktopError, match="Connection refused"):
        VncDesktop(VncServer("127.0.0.1", port)).read_clipboard("clipboard")
