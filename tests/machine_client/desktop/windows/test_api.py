"""Calls of Windows are there on Windows alone, and say so elsewhere."""

import ctypes
import sys

import pytest

from machine_client.desktop.windows import api


@pytest.mark.skipif(sys.platform == "win32", reason="they are there")
def test_without_windows_every_call_says_so() -> None:
    with pytest.raises(OSError, match="no GetCursorPos here: this is no Windows"):
        api.get_cursor_pos(None)
    assert api.last_error() == 0


@pytest.mark.skipif(sys.platform != "win32", reason="a LONG is longer elsewhere")
def test_structures_have_the_sizes_of_64_bit_windows() -> None:
    sizes = {api.CursorInfo: 24, api.IconInfo: 32, api.Bitmap: 32, api.BitmapInfo: 40}
    assert {each: ctypes.sizeof(each) for each in sizes} == sizes
