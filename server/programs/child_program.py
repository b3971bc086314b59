"""A program that we start for ourselves, and that ends with us."""

import asyncio
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

from server.process.bounded_log import BoundedLog
from server.programs import die_with_parent

_POLL_SECONDS: Final = 0.005
# PF_EXITING in Linux' include/linux/sched.h.
_EXITING: Final = 0x4
# A program that the name stands for may have left a child that still holds the log's pipe.
_LAST_LINES_SECONDS: Final = 1.0


class ChildProgram:
    """A program that was started, whose output goes to a file.

    Make it in a thread that lives as long as this program does, normally the main one: the kernel
    ends the child together with the thread that started it.
    """

    def __init__(self, command: Sequence[str], *, directory: Path, log: Path) -> None:
        launcher = [sys.executable, "-I", "-S", str(Path(die_with_parent.__file__).absolute())]
        # A session of its own: Ctrl+C in the terminal must reach its parent alone, which still
        # needs it while it stops.
        self._process = subprocess.Popen(  # noqa: S603  no shell, and our own arguments
            [*launcher, str(os.getpid()), *command],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101  asked for just above
        self._log = BoundedLog(self._process.stdout, log)
        self._log.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The status with which it ended; None while it runs."""
        return self._process.poll()

    def last_lines(self) -> list[str]:
        """What it said last, oldest first; for one that has ended."""
        self._log.join(_LAST_LINES_SECONDS)
        return self._log.last_lines

    async def end(self, timeout: float) -> None:
        """Ask it to end, and kill it where it has not done so after ``timeout`` seconds."""
        try:
            self._process.terminate()
            async with asyncio.timeout(timeout):
                await _until(lambda: self.status is not None)
        except TimeoutError:
            pass
        finally:
            # Also when this task is cancelled: nothing may be left running.
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            self._log.join(_LAST_LINES_SECONDS)


async def _until(condition: Callable[[], bool]) -> None:
    # Another process's end is no event of this loop; nobody would set one.
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)


def locked(path: Path) -> int:
    """A descriptor that holds the lock of a file; BlockingIOError where another process has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock


def end_left_over(pid_file: Path, argument: Path, timeout: float) -> int | None:
    """Kill a program that outlived the one that had started it, and wait for its end.

    It is the one whose number a file has, if it was called with an argument.  One that is ending
    already is waited for as well.  Returns the number of one that is known to be ours, where it
    has not ended, and let go of its ports and files, after ``timeout`` seconds.
    """
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return None
    is_ours = False
    give_up_at = time.monotonic() + timeout
    while True:
        # In this order: what it was called with goes when it begins to end.
        arguments, life = _arguments(pid), _life(pid)
        if life == "has ended":
            return None
        if os.fsencode(argument) in arguments:
            is_ours = True
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        elif arguments or life == "runs":
            # The number alone proves nothing: by now it may be anybody's.
            return None
        # One that is ending no longer says whose it is: its memory goes first, and its ports and
        # files some time later.
        if time.monotonic() > give_up_at:
            return pid if is_ours else None
        time.sleep(_POLL_SECONDS)


def _arguments(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []


def _life(pid: int) -> Literal["runs", "is ending", "has ended"]:
    """How far a program is, all of its threads; who had started it need not know of its end yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return "has ended"
    # What proc_pid_stat(5) has after the name in parentheses.
    fields = stat.rpartition(b")")[2].split()
    state, flags, threads = fields[0], int(fields[6]), int(fields[17])
    if state in (b"Z", b"X") and threads <= 1:
        return "has ended"
    return "is ending" if flags & _EXITING else "runs"
