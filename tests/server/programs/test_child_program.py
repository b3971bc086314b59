import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from server.programs.child_program import ChildProgram, end_left_over, locked
from tests.processes import is_gone, until

# A parent that tells its child's number, and never ends by itself.
PARENT = """
import sys, time
from functools import partial
from pathlib import Path
from server.programs.child_program import ChildProgram

here = Path(sys.argv[1])
child = ChildProgram(["/bin/sleep", "600"], directory=here, log=here / "log")
print(child.pid, flush=True)
time.sleep(600)
"""


def child(directory: Path, script: str) -> ChildProgram:
    return ChildProgram(["/bin/sh", "-c", script], directory=directory, log=directory / "log")


async def test_it_runs_where_it_is_told_and_its_output_is_kept(tmp_path: Path) -> None:
    program = child(tmp_path, "pwd; echo complaint >&2; exit 3")
    until(lambda: program.status is not None, "it ended")
    assert program.status == 3
    assert program.last_lines() == [str(tmp_path), "complaint"]
    assert (tmp_path / "log").read_text() == f"{tmp_path}\ncomplaint\n"
    await program.end(0)


async def test_it_is_in_a_session_of_its_own(tmp_path: Path) -> None:
    program = child(tmp_path, "sleep 600")
    assert os.getsid(program.pid) == program.pid
    await program.end(5)


async def test_it_is_asked_to_end_and_made_to(tmp_path: Path) -> None:
    willing = child(tmp_path, "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done")
    unwilling = child(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
    for program in (willing, unwilling):
        log = program._log
        until(partial(getattr, log, "last_lines"), "it is ready")
    await willing.end(20)
    assert willing.status == 5
    await unwilling.end(0.05)
    assert unwilling.status == -signal.SIGKILL


def test_it_ends_with_its_parent_however_that_ends(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not is_gone(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    until(lambda: is_gone(pid), "the child is gone")


def test_lock_is_had_by_one(tmp_path: Path) -> None:
    lock = locked(tmp_path / "lock")
    with pytest.raises(BlockingIOError):
        locked(tmp_path / "lock")
    os.close(lock)
    os.close(locked(tmp_path / "lock"))


def test_left_over_program_is_ended(tmp_path: Path) -> None:
    stray = subprocess.Popen(["/bin/sh", "-c", "sleep 600; :", str(tmp_path)])
    try:
        # For a moment after it has begun the kernel does not know how it was called.
        until(Path(f"/proc/{stray.pid}/cmdline").read_bytes, "it runs")
        pid_file = tmp_path / "pid"
        pid_file.write_text(f"{stray.pid}\n")
        # It has the number, but was not called so.
        assert end_left_over(pid_file, tmp_path / "other", 5) is None
        assert stray.poll() is None
        assert end_left_over(pid_file, tmp_path, 5) is None
        assert stray.wait() == -signal.SIGKILL
    finally:
        stray.kill()
        stray.wait()


# Listens at a port, and has much memory to give back first when it ends.
LARGE = """
import mmap, socket
memory = mmap.mmap(-1, 300 * 1024 * 1024, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, len(memory), mmap.PAGESIZE):
    memory[place] = 1
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    input()
"""


def test_left_over_program_that_is_ending_has_let_go_of_its_port(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LARGE, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as stray:
        assert stray.stdout is not None
        port = int(stray.stdout.readline())
        (tmp_path / "pid").write_text(f"{stray.pid}")
        stray.kill()
        assert end_left_over(tmp_path / "pid", tmp_path, 20) is None
        socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize("text", [None, "", "x", "0", "2", "99999999"])
def test_file_that_names_no_program_is_nothing(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "pid").write_text(text)
    # So long a time that waiting for anybody else's program would be seen.
    assert end_left_over(tmp_path / "pid", tmp_path, 3600) is None
