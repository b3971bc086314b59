"""Pixels that are pixels, on a Windows that would show a program enlarged."""

import ctypes
import sys
from typing import Final

from machine_client.system.libraries import library

_PER_MONITOR_V2: Final = -4
_PER_MONITOR: Final = 2


def be_aware_of_dpi() -> None:
    """Let every coordinate be a pixel of the screen that it is on; elsewhere it does nothing.

    A process can say so once, before its first window and the first coordinate that it asks for:
    where a manifest or a library has, that stays.
    """
    if sys.platform == "win32":
        windows = library("user32")
        # Windows 10 1703, Windows 8.1 and Windows Vista learned these.
        set_context = getattr(windows, "SetProcessDpiAwarenessContext", None)
        if set_context is not None and set_context(ctypes.c_void_p(_PER_MONITOR_V2)):
            return
        try:
            if library("shcore").SetProcessDpiAwareness(_PER_MONITOR) == 0:
                return
        except (AttributeError, OSError):
            pass
        windows.SetProcessDPIAware()
