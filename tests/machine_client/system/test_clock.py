"""The clock that goes on through sleep, here and as it is made elsewhere."""

import ctypes
import sys
import time
from types import SimpleNamespace

import pytest

from machine_client.system import clock
from machine_client.system.clock import boottime_seconds


def test_clock_is_that_of_the_boot() -> None:
    assert boottime_seconds() >= time.monotonic() - 1
    assert abs(boottime_seconds() - time.clock_gettime(time.CLOCK_BOOTTIME)) < 5


def test_macos_is_asked_for_the_clock_that_goes_on_during_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = {time.CLOCK_MONOTONIC_RAW: 7.5}
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    assert clock._clock()() == 7.5


def test_windows_ticks_are_seconds_beyond_the_32nd_bit() -> None:
    class Ticks:
        restype: object = None

        def __call__(self) -> int:
            assert self.restype is ctypes.c_uint64
            return 2**33 + 500

    kernel32 = SimpleNamespace(GetTickCount64=Ticks())
    assert clock._ticks_of(kernel32)() == 8589935.092
