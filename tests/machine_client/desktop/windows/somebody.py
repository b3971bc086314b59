"""Another program of the session that holds something: ``python -m ….somebody NAME``.

It presses by Windows' older calls, which are not those of the code under test, says so, and lets go
once its input ends.
"""

import ctypes
import sys
from typing import Any

_BUTTONS = {"left": (0x02, 0x04), "right": (0x08, 0x10), "middle": (0x20, 0x40)}
_CODES = {"x": 0x58, "ctrl": 0x11}
KEY_UP = 2


def main(what: str) -> None:
    """Hold one thing."""
    user32: Any = getattr(ctypes, "windll").user32  # noqa: B009  there is none on Linux
    if what in _BUTTONS:
        down, up = _BUTTONS[what]
        user32.mouse_event(down, 0, 0, 0, None)
    else:
        user32.keybd_event(_CODES[what], 0, 0, None)
    print("held", flush=True)
    sys.stdin.read()
    if what in _BUTTONS:
        user32.mouse_event(up, 0, 0, 0, None)
    else:
        user32.keybd_event(_CODES[what], 0, KEY_UP, None)


if __name__ == "__main__":
    main(*sys.argv[1:])
