"""Who is connected to a socket, as the kernel tells it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from machine_client.desktop.wayland.sway.clients import connected, runs, unknown_clients

CONNECTED = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); input()"


def test_client_that_is_not_known_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "wayland-1")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as own:
        server.bind(path)
        server.listen()
        assert unknown_clients(path, set()) == []
        own.connect(path)
        kept, _ = server.accept()
        assert connected(Path(path).stat().st_ino) == {os.fstat(own.fileno()).st_ino}
        assert unknown_clients(path, {os.getpid()}) == []
        command = [sys.executable, "-c", CONNECTED, path]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as other, kept:
            also_kept, _ = server.accept()
            (name,) = unknown_clients(path, {os.getpid()})
            assert name.startswith("python")
            assert unknown_clients(path, {os.getpid(), other.pid}) == []
            other.kill()
            other.wait()
            assert unknown_clients(path, {os.getpid()}) == []
            also_kept.close()


def test_program_runs_for_its_user() -> None:
    own = Path("/proc/self/comm").read_text().strip()
    assert runs(own, user_of=os.getpid())
    assert not runs("no such one", user_of=os.getpid())
