"""Where a VNC server is, and its password."""

from pathlib import Path

import pytest

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.vnc.address import VncServer, parse_address


def test_address_is_a_host_and_a_tcp_port() -> None:
    assert parse_address("10.0.0.7:5901") == ("10.0.0.7", 5901)
    assert parse_address("pve.example:1") == ("pve.example", 1)
    assert parse_address("[fe80::1%eth0]:5900") == ("fe80::1%eth0", 5900)
    assert str(VncServer("::1", 5900)) == "[::1]:5900"
    assert str(VncServer("a.example", 5900)) == "a.example:5900"


@pytest.mark.parametrize(
    "text",
    ["", "a", ":5900", "a:", "a:0", "a:65536", "a:1:2", "::1:5900", "a b:1", "u@a:1", "a/:1"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a VNC server's|has a port"):
        parse_address(text)


def test_password_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    server = VncServer("a", 1, file)
    assert VncServer("a", 1).password() is None
    with pytest.raises(InjectionUnavailable, match="No such file"):
        server.password()
    file.write_bytes(b"\n")
    with pytest.raises(InjectionUnavailable, match="no VNC password"):
        server.password()
    file.write_bytes(b"two words \r\nand more")
    assert server.password() == b"two words "
