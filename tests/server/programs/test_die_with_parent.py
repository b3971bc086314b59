import os
import subprocess
import sys

from server.programs import die_with_parent


def launched(parent: int, *program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", die_with_parent.__file__, str(parent), *program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_program_takes_the_place_of_the_launcher() -> None:
    ended = launched(os.getpid(), "/bin/sh", "-c", "echo said; exit 7")
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "said\n", "")


def test_program_of_a_parent_that_is_gone_is_not_run() -> None:
    # Number 1 is alive, but not the parent; to the launcher its own has died in between.
    assert launched(1, "/bin/echo", "said").stdout == ""
