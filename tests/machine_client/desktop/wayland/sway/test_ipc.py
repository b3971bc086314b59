"""sway's own socket: found, and left where it does not answer as it should."""

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.sway import ipc

HEADER = struct.Struct("=6sII")


@contextmanager
def listening(path: Path, *answers: bytes) -> Iterator[None]:
    """A socket that has an answer for each who asks, or nothing to say."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def answer() -> None:
            for each in answers:
                connection, _ = server.accept()
                with connection:
                    connection.recv(1024)
                    connection.sendall(each)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield
        if answers:
            thread.join(60)


def told(value: object) -> bytes:
    body = json.dumps(value).encode()
    return HEADER.pack(b"i3-ipc", len(body), ipc.TREE) + body


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAYSOCK", str(tmp_path / "ipc"))


@pytest.mark.parametrize("name", ["ipc", f"sway-ipc.0.{os.getpid()}.sock"], ids=["named", "beside"])
def test_answer_of_sways_own_socket_is_read(tmp_path: Path, name: str) -> None:
    with listening(tmp_path / "wayland-1"), listening(tmp_path / name, told({"nodes": []})):
        assert ipc.ask(str(tmp_path / "wayland-1"), ipc.TREE) == {"nodes": []}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "cannot be asked"),
        (b"HTTP/1.1 400 Bad Request", "answered something else"),
        (HEADER.pack(b"i3-ipc", ipc.MOST_BYTES + 1, 4), "answered something else"),
        (HEADER.pack(b"i3-ipc", 9, 4) + b"{}", "cannot be asked"),
        (HEADER.pack(b"i3-ipc", 2, 4) + b"no", "cannot be asked"),
    ],
)
def test_other_answer_is_refused(tmp_path: Path, answer: bytes, why: str) -> None:
    with listening(tmp_path / "wayland-1"), listening(tmp_path / "ipc", answer):
        with pytest.raises(DesktopError, match=why) as raised:
            ipc.ask(str(tmp_path / "wayland-1"), ipc.TREE)
        assert raised.value.code == "elements_unavailable"


def test_silence_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipc, "SECONDS", 0.1)
    with (
        listening(tmp_path / "wayland-1"),
        listening(tmp_path / "ipc"),
        pytest.raises(DesktopError, match="does not answer on its own socket"),
    ):
        ipc.ask(str(tmp_path / "wayland-1"), ipc.TREE)


def test_socket_that_is_gone_or_of_another_process_is_refused(tmp_path: Path) -> None:
    with (
        listening(tmp_path / "wayland-1"),
        pytest.raises(DesktopError, match=r"no socket of sway's own was found"),
    ):
        ipc.ask(str(tmp_path / "wayland-1"), ipc.TREE)
    with pytest.raises(DesktopError, match="cannot be asked"):
        ipc.ask(str(tmp_path / "wayland-1"), ipc.TREE)
