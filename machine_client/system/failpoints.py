"""Ends or stops this program at the failpoints that a test armed; elsewhere they do nothing."""

import os
import signal
import sys
import threading

from schemas.programs import failpoints
from schemas.programs.failpoints import Action, Failpoint, FailpointError

KILLED = 9
"""What a killed program's end is told as: by a signal of that number, or on Windows as its code."""


def arm_failpoints(*, testing: bool) -> None:
    """Arm what the environment asks for.  Raises FailpointError where that cannot be."""
    text = os.environ.get(failpoints.VARIABLE, "")
    failpoints.arm(text, "machine", _end_or_stop, testing=testing)
    if "=stop" in text and sys.platform == "win32":
        raise FailpointError(f"{failpoints.VARIABLE}: Windows cannot stop a program like that")


def _end_or_stop(point: Failpoint, action: Action) -> None:
    print(f"{action} at {point}", file=sys.stderr, flush=True)
    if action == "kill" or sys.platform == "win32":
        # Windows has no signals: it is TerminateProcess there, and nothing runs after it.
        os.kill(os.getpid(), KILLED)
    else:
        # To this thread: it stops right here, and all others a moment later.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
