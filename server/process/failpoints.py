"""Ends or stops this program at the failpoints that a test armed; elsewhere they do nothing."""

import os
import signal
import sys
from collections.abc import Mapping
from typing import Final

from schemas.programs import failpoints
from schemas.programs.failpoints import Action, Failpoint

SIGNALS: Final[Mapping[Action, signal.Signals]] = {
    "kill": signal.SIGKILL,
    "stop": signal.SIGSTOP,
}


def arm_failpoints(*, testing: bool) -> None:
    """Arm what the environment asks for.  Raises FailpointError where that cannot be."""
    text = os.environ.get(failpoints.VARIABLE, "")
    failpoints.arm(text, "server", _end_or_stop, testing=testing)


def _end_or_stop(point: Failpoint, action: Action) -> None:
    print(f"{action} at {point}", file=sys.stderr, flush=True)
    os.kill(os.getpid(), SIGNALS[action])
