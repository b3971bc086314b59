"""What cannot be installed is said in one sentence, before anything is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "system-packages"

ANOTHER_PYTHON = """#!{executable}
# Says that it is of another version, and carries out what it is given.
import platform, sys
sys.version_info = {version}
platform.python_version = lambda: ".".join(map(str, {version}))
exec(sys.argv[2])
"""
VERSIONS = {"python3.10": (3, 10, 2), "python3.15": (3, 15, 0), "python3.14": (3, 14, 9)}
APT_GET = """#!/bin/sh
# Stands for Debian's, on a system that has no package of one name.
echo "$*" >> "$(dirname "$0")/asked"
case $* in *--simulate*chromium*) exit 100 ;; esac
"""
SUDO = """#!/bin/sh
shift
exec "$@"
"""


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A directory of programs, the only ones that are found."""
    pythons = {
        name: ANOTHER_PYTHON.format(executable=sys.executable, version=version)
        for name, version in VERSIONS.items()
    }
    for name, text in {"apt-get": APT_GET, "sudo": SUDO, **pythons}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    for name in ("bash", "sh", "grep", "dirname"):
        found = next(
            path for path in (Path("/bin") / name, Path("/usr/bin") / name) if path.exists()
        )
        (tmp_path / name).symlink_to(found)
    return tmp_path


def said(commands: Path, group: str, python: str = "python3") -> tuple[int, str]:
    """The exit code of the script, and what it says."""
    ended = subprocess.run(
        ["bash", str(SCRIPT), group],
        env={**os.environ, "PATH": str(commands), "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("python", "found"),
    [("python3.10", "3.10.2"), ("python3.15", "3.15.0"), ("python9", "not there")],
)
def test_python_that_does_not_fit_is_named(commands: Path, python: str, found: str) -> None:
    code, error = said(commands, "build", python)
    assert code == 1
    assert error == (
        f"Farhand needs Python 3.11 to 3.14, and {python} is {found}: name another one, as in "
        "make install PYTHON=python3.13\n"
    )
    assert not (commands / "asked").exists()


def test_python_that_fits_is_not_named(commands: Path) -> None:
    _, error = said(commands, "build", "python3.14")
    assert "needs Python" not in error


def test_package_that_apt_does_not_have_is_named_before_others_are_installed(
    commands: Path,
) -> None:
    code, error = said(commands, "tests")
    assert code == 1
    assert error.startswith("apt can install no chromium-headless-shell here, ")
    assert error.count("\n") == 1
    asked = (commands / "asked").read_text().splitlines()
    assert [line for line in asked if "install" in line and "--simulate" not in line] == []


def test_package_that_the_tests_alone_need_keeps_nobody_from_the_demo(commands: Path) -> None:
    code, error = said(commands, "run")
    assert (code, error.count("\n")) == (0, 1)
    assert error.startswith("installing ")
    installed = (commands / "asked").read_text().splitlines()[-1]
    assert " xvfb" in installed
    assert "chromium" not in installed


def test_what_is_missing_is_installed(commands: Path) -> None:
    (commands / "chromium-headless-shell").write_text("")
    (commands / "chromium-headless-shell").chmod(0o700)
    code, error = said(commands, "tests")
    assert code == 0
    assert error.startswith("installing xterm ")
    installed = (commands / "asked").read_text().splitlines()[-1]
    assert " xterm " in installed
    assert "chromium" not in installed
