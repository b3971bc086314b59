"""A program whose extra was not installed says what to install."""

import subprocess
import sys

import pytest

import machine_client.installing
import server.process.installing


@pytest.mark.parametrize(
    ("program", "library", "command"),
    [
        ("server", "tornado", server.process.installing.how_to_install("server")),
        ("machine_client", "websockets", machine_client.installing.how_to_install("machine")),
    ],
)
def test_missing_extra_is_named(program: str, library: str, command: str) -> None:
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from {program}.__main__ import main\nsys.argv = ['x', '--help']\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == f"Error: {library} is not installed: {command}\n"
