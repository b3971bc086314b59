"""A program whose extra was not installed says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

import machine_client.system.installing
import server.programs.installing

SERVER = server.programs.installing.how_to_install("server")
MACHINE = machine_client.system.installing.how_to_install("machine")
LIST_TOKENS = ["token", "list", "--url", "http://x", "--token", "t"]


@pytest.mark.parametrize(
    ("program", "library", "arguments", "command"),
    [
        ("server", "motor", ["--help"], SERVER),
        ("server", "tornado", ["serve", "--port", "0", "--data-dir"], SERVER),
        ("server", "farhand", LIST_TOKENS, SERVER),
        ("server", "httpx", LIST_TOKENS, SERVER),
        ("machine_client", "websockets", ["--help"], MACHINE),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_missing_extra_is_named(
    program: str, library: str, arguments: list[str], command: str, tmp_path: Path
) -> None:
    if arguments[-1] == "--data-dir":
        arguments = [*arguments, str(tmp_path)]
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from {program}.__main__ import main\nsys.argv = ['x', *{arguments!r}]\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    name = "farhand-client" if library == "farhand" else library
    assert ended.stderr == f"Error: {name} is not installed: {command}\n"
