"""The end of a Windows console: its window is closed, its user logs off, or Windows shuts down.

The last two are told so to programs without windows alone: see `machine_client.system.session_end`.

Windows tells a program of it in a thread of its own, and ends the program when that returns, or
some seconds later.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from machine_client.system.libraries import library

CLOSES, LOGS_OFF, SHUTS_DOWN = 2, 5, 6
SECONDS_TO_END: Final = 4.5
"""For the program to release what it holds; Windows waits for five."""

_kept: list[Any] = []
"""What Windows calls, for as long as the program runs."""


def on_console_end(stop: Callable[[], object]) -> None:
    """Call something when the console ends; elsewhere there are signals, and it does nothing."""
    if sys.platform == "win32":
        handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint32)(
            lambda event: _handle(event, stop, threading.Event().wait)
        )
        if library("kernel32").SetConsoleCtrlHandler(handler, True):
            _kept.append(handler)


def _handle(event: int, stop: Callable[[], object], wait: Callable[[float], object]) -> bool:
    """Whether this was for us; Python itself has made signals of Ctrl-C and Ctrl-Break."""
    if event not in (CLOSES, LOGS_OFF, SHUTS_DOWN):
        return False
    stop()
    wait(SECONDS_TO_END)
    return True
