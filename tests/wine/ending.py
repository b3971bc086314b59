"""Runs a machine client of Windows and ends it as Windows does: ``python -m tests.wine.ending``.

Arguments: the way, a file for what the client says, its module and that one's own.  When a line
comes on standard input the client is ended in that way; the exit code is the client's.  Where it is
at a console, that has a window of its own, which inherits every pipe: hence the file.
"""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from ctypes import wintypes
from typing import Any

WINDOW = "FarhandMachineClient"
CLOSE, QUERY_END_SESSION, END_SESSION = 0x10, 0x11, 0x16
CONTROL_IS_DOWN, KEY_EVENT, BREAK, LETTER_C = 0x8, 1, 0x03, 0x43
READ_AND_WRITE, SHARED, OPEN_EXISTING = 0xC0000000, 3, 3
SECONDS = 30


class _KeyRecord(ctypes.Structure):
    """INPUT_RECORD of a key."""

    _fields_ = (
        ("kind", wintypes.DWORD),
        ("is_down", wintypes.BOOL),
        ("count", wintypes.WORD),
        ("key", wintypes.WORD),
        ("scan", wintypes.WORD),
        ("character", wintypes.WCHAR),
        ("state", wintypes.DWORD),
    )


def _library(name: str) -> Any:
    return getattr(ctypes, "windll")[name]  # noqa: B009  there is none on Linux


def _type_at_console(key: int) -> None:
    """Type ctrl and a key where the client is; this program, at the same console, ignores it."""
    kernel32 = _library("kernel32")
    kernel32.SetConsoleCtrlHandler(None, True)  # of Ctrl-C
    _kept.append(ctypes.CFUNCTYPE(ctypes.c_int, wintypes.DWORD)(lambda _: True))
    kernel32.SetConsoleCtrlHandler(_kept[0], True)  # and of the rest
    kernel32.CreateFileW.restype = ctypes.c_void_p
    console = ctypes.c_void_p(
        kernel32.CreateFileW("CONIN$", READ_AND_WRITE, SHARED, None, OPEN_EXISTING, 0, None)
    )
    record = _KeyRecord(KEY_EVENT, True, 1, key, 0, "\x03", CONTROL_IS_DOWN)
    written = wintypes.DWORD()
    assert kernel32.WriteConsoleInputW(console, ctypes.byref(record), 1, ctypes.byref(written))


_kept: list[Any] = []


def _tell_window(*messages: tuple[int, int]) -> None:
    user32 = _library("user32")
    user32.FindWindowW.restype = ctypes.c_void_p
    window = ctypes.c_void_p(user32.FindWindowW(WINDOW, None))
    assert window
    for message, parameter in messages:
        user32.SendMessageW(window, message, parameter, 0)


WAYS: dict[str, Callable[[], None]] = {
    "ctrl-c": lambda: _type_at_console(LETTER_C),
    "ctrl-break": lambda: _type_at_console(BREAK),
    "close": lambda: _tell_window((CLOSE, 0)),
    "logoff": lambda: _tell_window((QUERY_END_SESSION, 0), (END_SESSION, 1)),
}


def main(way: str, log: str, *arguments: str) -> int:
    """Run the client; its exit code."""
    if way.startswith("ctrl-"):
        kernel32 = _library("kernel32")
        kernel32.FreeConsole()
        assert kernel32.AllocConsole()
    client = subprocess.Popen(
        [sys.executable, "-m", *arguments, "--log-file", log],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sys.stdin.readline()
    WAYS[way]()
    return client.wait(SECONDS)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
