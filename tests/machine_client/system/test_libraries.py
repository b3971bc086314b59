"""Libraries of Windows are there on Windows alone, and each caller's functions are its own."""

import sys

import pytest

from machine_client.system.libraries import library


@pytest.mark.skipif(sys.platform == "win32", reason="they are there")
def test_without_windows_there_is_none() -> None:
    with pytest.raises(OSError, match="no kernel32 here: this is no Windows"):
        library("kernel32")


@pytest.mark.skipif(sys.platform != "win32", reason="there is none")
def test_what_one_caller_declares_another_does_not_see() -> None:
    first, second = library("kernel32").GetTickCount64, library("kernel32").GetTickCount64
    first.restype = None
    assert first() is None
    assert second() is not None
