"""Runs what is for Windows on a Windows Python under Wine: ``make test-windows``.

Arguments are pytest's.  Without any, that are all tests that are meant for Windows, those of the
screen once more with two screens, and then those in which a server here drives a machine there.
``--short`` leaves out what takes longest, and ``--picture`` makes the one in docs/images instead.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.desktop import virtual_display
from tests.wine.interpreter import WineError
from tests.wine.programs import PICTURE_FILE, wine_desktop
from tests.wine.screens import two_screens
from tests.wine.wheels import PROJECT

HERE = "tests/machine_client/desktop/windows"
INSIDE = (
    HERE,
    "tests/machine_client/system/test_console_events.py",
    "tests/machine_client/system/test_directories.py",
    "tests/machine_client/system/test_file_lock.py",
    "tests/machine_client/system/test_dpi.py",
    "tests/machine_client/system/test_libraries.py",
    "tests/machine_client/system/test_private_files.py",
    "tests/machine_client/system/test_session_end.py",
    "tests/machine_client/test_windows_imports.py",
)
"""What runs there."""
TWO_SCREENS = (f"{HERE}/test_screens.py", f"{HERE}/test_contract.py")
"""What runs there once more, on a session with a screen left of the first."""
ON_TWO_SCREENS = ("-k", "screens or TestMouse or TestGestures or TestView")
BESIDE = (
    *("tests/wine/console.py", "tests/wine/crashes.py", "tests/wine/end_to_end.py"),
    "tests/wine/program.py",
)
"""What runs here, with programs there; no names that a run of all tests would find."""
LONG = (
    "TestOthers",
    "TestKeys",
    "thousand",
    "imported",
    "doctor",
    "profile",
    "hands",
    "keys_and_drags",
    "installed_task",
)
"""Parts of the names of what is left out for short."""


def main(*arguments: str) -> int:
    """Run them; the exit code is pytest's."""
    if "--picture" in arguments:
        return _take_picture()
    given = [each for each in arguments if each != "--short"]
    if "--short" in arguments:
        given += ["-k", f"not ({' or '.join(LONG)})"]
    named = [each for each in given if Path(each.partition("::")[0]).exists()]
    try:
        if named:
            return _run_inside(given)
        return (
            _run_inside([*INSIDE, *given])
            or (not given and _run_inside([*TWO_SCREENS, *ON_TWO_SCREENS], two_screens))
            or _run_beside(given)
        )
    except WineError as error:
        print(error, file=sys.stderr)
        return 1


def _take_picture() -> int:
    file = PROJECT / "docs" / "images" / "console-windows.png"
    command = [sys.executable, "-m", "pytest", "-q", BESIDE[0], "-k", "seen"]
    running = {**os.environ, PICTURE_FILE: str(file)}
    return subprocess.run(command, cwd=PROJECT, env=running, check=False).returncode


def _run_beside(arguments: list[str]) -> int:
    pytest = (sys.executable, "-m", "pytest", "-rP", *BESIDE)
    return subprocess.run([*pytest, *arguments], cwd=PROJECT, check=False).returncode


def _run_inside(
    arguments: list[str], screens: Callable[[], AbstractContextManager[str]] = virtual_display
) -> int:
    # What tests need that lie above is for Linux: a database, an X server.
    own = (f"--confcutdir={HERE}", "-p", "no:cacheprovider")
    with wine_desktop(screens) as desktop:
        running = desktop.popen("-m", "pytest", *own, *arguments, stderr=subprocess.STDOUT)
        with running:
            assert running.stdout is not None
            for line in running.stdout:
                sys.stdout.buffer.write(line)
                sys.stdout.flush()
    return running.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
