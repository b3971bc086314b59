"""The demo's parts where something is missing; all of them together are in test_demo."""

import importlib.util
import shutil
import socket
from pathlib import Path

import pytest

from farhand import Farhand
from server.demo import DemoError, parts
from server.demo.children import Children
from server.demo.parts import (
    add_machine,
    check_installed,
    start_display,
    start_server,
    until_served,
    wait_for_server,
)
from tests.processes import ServerProcess


def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DemoError, match=r"Xlib, mss.*pip install '.*\[machine\]'"):
        check_installed()


def test_missing_xvfb_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(DemoError, match="apt-get install xvfb"):
        check_installed()


def test_displays_are_different(tmp_path: Path) -> None:
    xvfb = check_installed()
    with Children(tmp_path) as children:
        first, second = start_display(children, xvfb), start_display(children, xvfb)
    assert first.startswith(":")
    assert first != second


def test_address_of_a_server_before_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    file = tmp_path / "address"
    file.write_text("http://127.0.0.1:1\n")
    (tmp_path / "admin-token").write_text("fh_x\n")
    before = file.stat().st_mtime_ns
    with Children(tmp_path / "logs") as children:
        ended = children.start("server", ["/bin/true"])
        with pytest.raises(DemoError, match="server ended with status 0"):
            wait_for_server(children, ended, before, tmp_path)
        assert wait_for_server(children, ended, None, tmp_path)[0] == "http://127.0.0.1:1"


def test_port_that_is_taken_meanwhile_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as holder, Children(tmp_path / "logs") as children:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = holder.getsockname()[1]
        monkeypatch.setattr(parts, "USUAL_PORT", taken)
        monkeypatch.setattr(parts, "_is_free", lambda _: True)
        started = start_server(children, tmp_path, 1)
        server, address, farhand = until_served(children, started, tmp_path, 1)
        with farhand:
            assert [each.id for each in farhand.machines.list()] == []
        assert server is not started[0]
        assert not address.endswith(f":{taken}")


def test_administrators_token_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "address").write_text("http://127.0.0.1:1\n")
    with Children(tmp_path / "logs") as children:
        child = children.start("server", ["/bin/sleep", "600"])
        with pytest.raises(DemoError, match=r"cannot read .*admin-token"):
            wait_for_server(children, child, None, tmp_path)


def test_machine_that_is_there_gets_another_token(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with server.run():
        token = (tmp_path / "data" / "admin-token").read_text().strip()
        tokens = set()
        with Farhand(server.url, token) as farhand:
            for _ in range(2):
                file = add_machine(farhand, tmp_path)
                assert file.stat().st_mode & 0o777 == 0o600
                tokens.add(file.read_text())
    assert len(tokens) == 2
