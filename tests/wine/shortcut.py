"""Has ctrl+alt+t open Notepad, until it is ended; for a Windows Python."""

import ctypes
import subprocess
import sys
from ctypes import wintypes

MOD_ALT, MOD_CONTROL, WM_HOTKEY = 0x0001, 0x0002, 0x0312


def main() -> None:
    """Say that the shortcut is there, and wait for it."""
    user32 = ctypes.WinDLL("user32")  # type: ignore[attr-defined]
    if not user32.RegisterHotKey(None, 1, MOD_ALT | MOD_CONTROL, ord("T")):
        sys.exit("the shortcut is somebody else's")
    print("ready", flush=True)
    message = wintypes.MSG()
    while user32.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
        if message.message == WM_HOTKEY:
            # Not with our pipes: whoever reads them would wait for its end.
            subprocess.Popen(
                ["notepad"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


if __name__ == "__main__":
    main()
