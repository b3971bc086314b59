"""Runs what is for Windows on a Windows Python under Wine: ``make test-windows``.

Arguments are pytest's.  Without any, that are all tests that are meant for Windows, and then those
in which a server here drives a machine there.  ``--short`` leaves out what takes longest.
"""

import subprocess
import sys
from pathlib import Path

from tests.wine.interpreter import WineError
from tests.wine.programs import wine_desktop
from tests.wine.wheels import PROJECT

HERE = "tests/machine_client/desktop/windows"
INSIDE = (
    HERE,
    "tests/machine_client/system/test_console_events.py",
    "tests/machine_client/system/test_directories.py",
    "tests/machine_client/system/test_file_lock.py",
    "tests/machine_client/system/test_private_files.py",
    "tests/machine_client/test_windows_imports.py",
)
"""What runs there."""
BESIDE = "tests/wine/end_to_end.py"
"""What runs here, with programs there; no name that a run of all tests would find."""
SHORT = ("-k", "not TestOthers and not TestKeys")


def main(*arguments: str) -> int:
    """Run them; the exit code is pytest's."""
    given = [each for each in arguments if each != "--short"]
    if len(given) < len(arguments):
        given += SHORT
    named = [each for each in given if Path(each.partition("::")[0]).exists()]
    try:
        code = _run_inside([*([] if named else INSIDE), *given])
    except WineError as error:
        print(error, file=sys.stderr)
        return 1
    if named or code:
        return code
    return subprocess.run(
        [sys.executable, "-m", "pytest", BESIDE, *given], cwd=PROJECT, check=False
    ).returncode


def _run_inside(arguments: list[str]) -> int:
    # What tests need that lie above is for Linux: a database, an X server.
    own = (f"--confcutdir={HERE}", "-p", "no:cacheprovider")
    with wine_desktop() as desktop:
        running = desktop.popen("-m", "pytest", *own, *arguments, stderr=subprocess.STDOUT)
        with running:
            assert running.stdout is not None
            for line in running.stdout:
                sys.stdout.buffer.write(line)
                sys.stdout.flush()
    return running.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
