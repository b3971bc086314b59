"""Calls of Windows are there on Windows alone, and say so elsewhere."""

import ctypes
import sys
from typing import Any

import pytest

from machine_client.desktop.windows import api


@pytest.mark.skipif(sys.platform == "win32", reason="they are there")
def test_without_windows_every_call_says_so() -> None:
    with pytest.raises(OSError, match="no GetCursorPos here: this is no Windows"):
        api.get_cursor_pos(None)
    api.be_aware_of_dpi()
    assert api.last_error() == 0


@pytest.mark.skipif(sys.platform != "win32", reason="a LONG is longer elsewhere")
def test_structures_have_the_sizes_of_64_bit_windows() -> None:
    sizes = {api.CursorInfo: 24, api.IconInfo: 32, api.Bitmap: 32, api.BitmapInfo: 40}
    assert {each: ctypes.sizeof(each) for each in sizes} == sizes


@pytest.mark.skipif(sys.platform != "win32", reason="it is asked of Windows")
def test_this_process_is_aware_of_each_screens_dpi() -> None:
    api.be_aware_of_dpi()
    api.be_aware_of_dpi()
    user32: Any = getattr(ctypes, "windll").user32  # noqa: B009  there is none on Linux
    user32.GetThreadDpiAwarenessContext.restype = ctypes.c_void_p
    user32.GetAwarenessFromDpiAwarenessContext.argtypes = (ctypes.c_void_p,)
    context = user32.GetThreadDpiAwarenessContext()
    assert user32.GetAwarenessFromDpiAwarenessContext(context) == 2
