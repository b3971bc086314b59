"""Runs a program that ends when its parent ends, however the parent ends.

Run as a file, in an interpreter of its own: ``python -I -S die_with_parent.py PARENT_PID PROGRAM
ARGUMENT...``.  Asking the kernel for the signal has to happen between fork and exec, and running
Python there in a process with threads can deadlock; in a fresh process it cannot.

On Linux the kernel then sends SIGKILL when the *thread* that forked this process ends
(PR_SET_PDEATHSIG in prctl(2)), and keeps that promise across exec.  Elsewhere the program is
simply run.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Replace this process by the program; returns only where the parent has gone already."""
    parent, program = int(arguments[0]), arguments[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have died before the kernel was asked; then no signal will ever come.
        if os.getppid() != parent:
            return
    os.execv(program[0], program)  # noqa: S606  no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
