"""A program whose extra was not installed says what to install."""

import subprocess
import sys

import pytest

from schemas.programs.installing import how_to_install


@pytest.mark.parametrize(
    ("program", "library", "extra"),
    [
        ("server", "tornado", "server"),
        ("machine_client", "websockets", "machine"),
    ],
)
def test_missing_extra_is_named(program: str, library: str, extra: str) -> None:
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from {program}.__main__ import main\nsys.argv = ['x', '--help']\nmain()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == f"Error: {library} is not installed: {how_to_install(extra)}\n"
