"""Runs tests of the machine client on a Windows Python under Wine: ``make test-windows``.

Arguments are pytest's.  Without a path these are all tests that are meant for Windows.
"""

import subprocess
import sys
from pathlib import Path

from tests.desktop import virtual_display
from tests.wine.interpreter import WineError, command, prepare, wineserver
from tests.wine.wheels import PROJECT

HERE = "tests/machine_client/desktop/windows"
TESTS = (
    HERE,
    "tests/machine_client/test_windows_imports.py",
)
"""What runs there."""


def main(*arguments: str) -> int:
    """Run them; the exit code is pytest's."""
    try:
        home = prepare()
    except WineError as error:
        print(error, file=sys.stderr)
        return 1
    paths = () if any(Path(each.partition("::")[0]).exists() for each in arguments) else TESTS
    with virtual_display() as display, wineserver(home, display) as environment:
        # What tests need above these is for Linux: a database, an X server.
        own = (f"--confcutdir={HERE}", "-p", "no:cacheprovider")
        # A file that is inherited is none that Wine can write to; a pipe is.
        running = subprocess.Popen(
            command(home, "-m", "pytest", *own, *paths, *arguments),
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        with running:
            assert running.stdout is not None
            for line in running.stdout:
                sys.stdout.buffer.write(line)
                sys.stdout.flush()
    return running.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
