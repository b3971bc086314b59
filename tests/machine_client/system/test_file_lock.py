"""A lock that one process has and no other, and that ends with it."""

import subprocess
import sys
from pathlib import Path

from machine_client.system.file_lock import try_lock
from tests.waiting import WAIT_SECONDS

SCRIPT = """
import os, sys
from machine_client.system.file_lock import try_lock
print(try_lock(os.open(sys.argv[1], os.O_RDWR)), flush=True)
sys.stdin.read()
"""


def _another(file: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_lock_is_of_one_process_until_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a file"
    path.write_bytes(b"readable")
    with _another(path) as first:
        assert first.stdout is not None
        assert first.stdout.readline().strip() == b"True"
        with path.open("r+b") as file:
            assert not try_lock(file.fileno())
        # What is in it can be read all the same, also where locks are the system's law.
        assert path.read_bytes() == b"readable"
        first.kill()
        first.wait(20)
    with path.open("r+b") as file:
        assert try_lock(file.fileno())
        with _another(path) as second:
            said, _ = second.communicate(timeout=WAIT_SECONDS)
            assert said.strip() == b"False"
