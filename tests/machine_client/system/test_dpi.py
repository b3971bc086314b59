"""Coordinates are pixels, whatever Windows enlarges; elsewhere nothing is to be done."""

import ctypes
import sys
from typing import Any

import pytest

from machine_client.system.dpi import be_aware_of_dpi


def test_it_can_be_said_anywhere() -> None:
    be_aware_of_dpi()


@pytest.mark.skipif(sys.platform != "win32", reason="it is asked of Windows")
def test_this_process_is_aware_of_each_screens_dpi() -> None:
    be_aware_of_dpi()
    be_aware_of_dpi()
    user32: Any = getattr(ctypes, "windll").user32  # noqa: B009  there is none on Linux
    user32.GetThreadDpiAwarenessContext.restype = ctypes.c_void_p
    user32.GetAwarenessFromDpiAwarenessContext.argtypes = (ctypes.c_void_p,)
    context = user32.GetThreadDpiAwarenessContext()
    assert user32.GetAwarenessFromDpiAwarenessContext(context) == 2
