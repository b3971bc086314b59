"""The libraries of Windows."""

import ctypes
import sys
from typing import Any


def library(name: str) -> Any:
    """One of them, with functions of the caller's own to declare.

    Where there is no Windows it raises OSError, so that what needs none of them can be tested.
    """
    if sys.platform == "win32":
        return ctypes.WinDLL(name, use_last_error=True)
    raise OSError(f"there is no {name} here: this is no Windows")
