"""The few commands say what they do while they do it."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.desktop import program

MAKEFILE = Path(__file__).parent.parent / "Makefile"
ANNOUNCEMENT = "installing Farhand's packages into .venv (about a minute)"

PYTHON = """#!/bin/sh
# Stands for python3, and for the one in the environment that it makes.
[ "$2" = pip ] && { echo "pip at work: $*"; exit; }
mkdir -p .venv/bin && cp "$0" .venv/bin/python
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A place where nothing is really installed."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "config").mkdir()
    for name, text in {
        ".ci/system-packages": "#!/bin/sh\n",
        "python": PYTHON,
        "pyproject.toml": "",
        "config/constraints.txt": "",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    shutil.copy(MAKEFILE, tmp_path)
    return tmp_path


def install(checkout: Path, output: int) -> None:
    """``make install``, with its output somewhere."""
    subprocess.run(
        [program("make"), "--no-print-directory", "install", "PYTHON=./python"],
        cwd=checkout,
        stdout=output,
        stderr=output,
        check=True,
        timeout=60,
    )


def test_install_in_a_log_says_what_goes_on_and_nothing_else(checkout: Path) -> None:
    with (checkout / "log").open("wb") as log:
        install(checkout, log.fileno())
    said = (checkout / "log").read_text().splitlines()
    assert said[0] == ANNOUNCEMENT
    assert len(said) == 2
    assert " --quiet " in said[1]


def test_install_in_a_terminal_shows_pip_at_work(checkout: Path) -> None:
    terminal, output = pty.openpty()
    try:
        install(checkout, output)
        said = os.read(terminal, 65536).decode().splitlines()
    finally:
        os.close(terminal)
        os.close(output)
    assert said[0] == ANNOUNCEMENT
    assert said[1].startswith("pip at work")
    assert "--quiet" not in said[1]


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    with (checkout / "log").open("wb") as log:
        install(checkout, log.fileno())
        before = log.tell()
        install(checkout, log.fileno())
    said = (checkout / "log").read_bytes()[before:].decode()
    assert ANNOUNCEMENT not in said
