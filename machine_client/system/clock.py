"""A clock that is right through sleep, on every system."""

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any


def _clock() -> Callable[[], float]:
    """This system's clock of that kind.

    Python's monotonic clock stands still while the machine sleeps on Linux (CLOCK_MONOTONIC) and
    on macOS (mach_absolute_time).

    Linux: CLOCK_BOOTTIME, which counts the time that the system is suspended (clock_gettime(2)).
    macOS: CLOCK_MONOTONIC_RAW, which is mach_continuous_time there and goes on during sleep
    (clock_gettime(3) of macOS); on Linux the clock of the same name does not.
    Windows: GetTickCount64, milliseconds since the start, sleep and hibernation included
    (Microsoft's "Windows Time", which says so of it and the opposite of
    QueryUnbiasedInterruptTime); it ticks every 16 ms.
    """
    if sys.platform == "linux":
        return lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return lambda: time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
    if sys.platform == "win32":
        return _ticks_of(ctypes.WinDLL("kernel32"))
    return time.monotonic


def _ticks_of(kernel32: Any) -> Callable[[], float]:
    ticks = kernel32.GetTickCount64
    ticks.restype = ctypes.c_uint64  # or it would go back after 25 days
    return lambda: ticks() / 1000


boottime_seconds = _clock()
"""Seconds of a clock that never goes back and goes on while the machine sleeps."""
