"""Ends or stops this program at the failpoints that a test armed; elsewhere they do nothing."""

import os
import signal
from collections.abc import Mapping
from typing import Final

from schemas.programs import failpoints
from schemas.programs.failpoints import Action, FailpointError

NAMES: Final[Mapping[Action, str]] = {"kill": "SIGKILL", "stop": "SIGSTOP"}
"""The signal of each action; Windows has neither, and so no failpoint."""


def arm_failpoints(*, testing: bool) -> None:
    """Arm what the environment asks for.  Raises FailpointError where that cannot be."""
    text = os.environ.get(failpoints.VARIABLE, "")
    failpoints.arm(text, "machine", _end_or_stop, testing=testing)
    if text and not all(hasattr(signal, name) for name in NAMES.values()):
        raise FailpointError(f"{failpoints.VARIABLE}: this system cannot end a program like that")


def _end_or_stop(action: Action) -> None:
    os.kill(os.getpid(), getattr(signal, NAMES[action]))
