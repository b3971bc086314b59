"""The end of a Windows session, and a wish that this program ends, as windows are told of them.

A program that has loaded ``user32``, as whatever sends input does, gets no console event at logoff
and shutdown (Microsoft's "SetConsoleCtrlHandler"): it is a window that is told, and asked first.
The Task Scheduler and ``taskkill`` ask a window as well before they end a program by force.  So
there is one, which nobody sees.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from ctypes import wintypes
from typing import Any, Final

from machine_client.concurrency.threads import daemon_thread
from machine_client.system.console_events import SECONDS_TO_END
from machine_client.system.dpi import be_aware_of_dpi
from machine_client.system.libraries import library

CLOSE, QUERY_END_SESSION, END_SESSION = 0x10, 0x11, 0x16
WINDOW: Final = "FarhandMachineClient"
_START_SECONDS: Final = 5.0

_LONG_POINTER = ctypes.c_ssize_t


class _WindowClass(ctypes.Structure):
    """WNDCLASSW."""

    _fields_ = (
        ("style", wintypes.UINT),
        ("procedure", ctypes.c_void_p),
        ("more_of_class", ctypes.c_int),
        ("more_of_window", ctypes.c_int),
        ("instance", wintypes.HANDLE),
        ("icon", wintypes.HANDLE),
        ("cursor", wintypes.HANDLE),
        ("background", wintypes.HANDLE),
        ("menu", wintypes.LPCWSTR),
        ("name", wintypes.LPCWSTR),
    )


def on_session_end(stop: Callable[[], object]) -> None:
    """Call something when the session ends or the program is asked to; elsewhere it does nothing.

    It returns when both would be heard, or cannot be.
    """
    if sys.platform == "win32":
        be_aware_of_dpi()  # which would be too late with a window
        ready = threading.Event()
        daemon_thread(lambda: _listen(stop, ready.set), "session end").start()
        ready.wait(_START_SECONDS)


def _answer(
    message: int, parameter: int, stop: Callable[[], object], wait: Callable[[float], object]
) -> int | None:
    """What a message is answered with; None: as Windows does it for any window."""
    if message == QUERY_END_SESSION:
        return 1  # we are not in the way
    if message == CLOSE:
        stop()
        return 0
    if message == END_SESSION:
        if parameter:  # else somebody was in the way
            stop()
            wait(SECONDS_TO_END)  # with the answer, Windows may end the program
        return 0
    return None


def _listen(stop: Callable[[], object], ready: Callable[[], object]) -> None:
    """Make the window and answer for it, for as long as the program runs."""
    try:
        windows: Any = library("user32")
        windows.DefWindowProcW.argtypes = (
            *(wintypes.HWND, wintypes.UINT, ctypes.c_size_t, _LONG_POINTER),
        )
        windows.DefWindowProcW.restype = _LONG_POINTER

        def answer(window: int, message: int, parameter: int, more: int) -> int:
            said = _answer(message, parameter, stop, threading.Event().wait)
            if said is None:
                return int(windows.DefWindowProcW(window, message, parameter, more))
            return said

        # On a 64-bit Windows there is one way to call all functions.
        procedure = ctypes.CFUNCTYPE(
            *(_LONG_POINTER, wintypes.HWND, wintypes.UINT, ctypes.c_size_t, _LONG_POINTER)
        )(answer)
        has_window = _make_window(windows, ctypes.cast(procedure, ctypes.c_void_p))
    finally:
        ready()
    message = ctypes.byref(wintypes.MSG())
    while has_window and windows.GetMessageW(message, None, 0, 0) > 0:
        windows.DispatchMessageW(message)


def _make_window(windows: Any, procedure: ctypes.c_void_p) -> bool:
    kind = _WindowClass(procedure=procedure, name=WINDOW)
    windows.RegisterClassW(ctypes.byref(kind))
    make = windows.CreateWindowExW
    make.argtypes = (
        *(wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD),
        *(ctypes.c_int,) * 4,
        *(wintypes.HWND, wintypes.HANDLE, wintypes.HANDLE, ctypes.c_void_p),
    )
    make.restype = wintypes.HWND
    # Not one for messages alone, which is told nothing of the session; it is never shown.
    return bool(make(0, WINDOW, WINDOW, 0, 0, 0, 0, 0, None, None, None, None))
