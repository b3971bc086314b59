"""Events become the structures of ``SendInput``, and what that returns is believed."""

import ctypes
import sys
from types import ModuleType
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, DesktopLost
from machine_client.desktop.windows.keys import NAMED_KEYS
from machine_client.desktop.windows.sending import (
    ButtonEvent,
    KeyEvent,
    Motion,
    Sender,
    Turn,
    UnitEvent,
    physical_code,
    steps,
    steps_to,
)
from schemas.inputs.bodies import BUTTONS
from tests.machine_client.desktop.windows.fakes import FakeSession

_MOUSE_FIELDS = ("dx", "dy", "mouseData", "dwFlags")


class _Mouse(ctypes.Structure):
    MOVE, ABSOLUTE, WHEEL, HWHEEL = 0x1, 0x8000, 0x800, 0x1000
    LEFTDOWN, LEFTUP, RIGHTDOWN, RIGHTUP, MIDDLEDOWN, MIDDLEUP = 2, 4, 8, 0x10, 0x20, 0x40
    XDOWN, XUP = 0x80, 0x100
    _fields_ = tuple((name, ctypes.c_uint32) for name in _MOUSE_FIELDS)


class _Keyboard(ctypes.Structure):
    EXTENDEDKEY, KEYUP, UNICODE = 1, 2, 4
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("wVk", "wScan", "dwFlags"))


class _Union(ctypes.Union):
    _fields_ = (("mi", _Mouse), ("ki", _Keyboard))


class _Input(ctypes.Structure):
    MOUSE, KEYBOARD = 0, 1
    _fields_ = (("type", ctypes.c_uint32), ("value", _Union))


class Stream(ModuleType):
    """Stands for the part of pynput that is used; it remembers, and takes ``takes`` at most."""

    INPUT, INPUT_union, MOUSEINPUT, KEYBDINPUT = _Input, _Union, _Mouse, _Keyboard
    takes = 100

    def SendInput(self, count: int, inputs: Any, size: int) -> int:  # noqa: N802  Windows' name
        assert size == ctypes.sizeof(_Input)
        self.inputs = [
            (each.value.ki.wVk, each.value.ki.wScan, each.value.ki.dwFlags)
            if each.type
            else tuple(getattr(each.value.mi, name) for name in _MOUSE_FIELDS)
            for each in inputs
        ]
        return min(count, self.takes)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    package, util, stream = ModuleType("pynput"), ModuleType("pynput._util"), Stream("win32")
    monkeypatch.setitem(sys.modules, "pynput", package)
    monkeypatch.setitem(sys.modules, "pynput._util", util)
    monkeypatch.setattr(util, "win32", stream, raising=False)
    return stream


@pytest.mark.parametrize("length", [1, 2, 799, 800, 1080, 1280, 1366, 1920, 3840, 7680, 32767])
def test_step_of_each_pixel_lies_on_it(length: int) -> None:
    assert [steps(place, length) * length // 65536 for place in range(length)] == [*range(length)]


def test_place_left_of_and_above_the_first_screen_is_counted_from_the_corner_of_all(
    windows: FakeSession,
) -> None:
    windows.metrics = {76: -1920, 77: -200, 78: 3840, 79: 1280}
    assert steps_to(-1920, -200) == (0, 0)
    assert steps_to(0, 0) == (32768, 10240)


def test_events_are_what_windows_takes(windows: FakeSession, stream: Stream) -> None:
    right = NAMED_KEYS["ctrl_r"]
    Sender().send(
        Motion(640, 400),
        *(ButtonEvent("left", True), ButtonEvent("middle", False)),
        *(ButtonEvent("back", True), ButtonEvent("forward", False)),
        *(Turn("up"), Turn("down"), Turn("left"), Turn("right")),
        *(KeyEvent(right, True), KeyEvent(NAMED_KEYS["esc"], False)),
        *(UnitEvent(0x20AC, True), UnitEvent(0x20AC, False)),
    )
    back = 2**32 - 120
    assert stream.inputs == [
        (32768, 32768, 0, 0xC001),
        *((0, 0, 0, 2), (0, 0, 0, 0x40)),
        *((0, 0, 1, 0x80), (0, 0, 2, 0x100)),
        *((0, 0, 120, 0x800), (0, 0, back, 0x800), (0, 0, back, 0x1000), (0, 0, 120, 0x1000)),
        *((0xA3, 0x1D, 1), (0x1B, 0x01, 2)),
        *((0, 0x20AC, 4), (0, 0x20AC, 6)),
    ]


def test_swapped_buttons_are_pressed_so_that_they_mean_the_same(
    windows: FakeSession, stream: Stream
) -> None:
    windows.metrics[23] = 1
    Sender().send(ButtonEvent("left", True), ButtonEvent("right", True))
    assert [flags for *_, flags in stream.inputs] == [8, 2]
    assert [physical_code(button) for button in BUTTONS] == [2, 1, 4, 5, 6]


def test_what_is_not_taken_is_told_and_not_counted(windows: FakeSession, stream: Stream) -> None:
    sender = Sender()
    sender.send(Turn("up"), Turn("up"))
    stream.takes = 1
    with pytest.raises(DesktopError) as caught:
        sender.send(Turn("up"), Turn("up"))
    assert (caught.value.code, sender.taken) == ("input_not_taken", 3)
    windows.shown, stream.takes = False, 0
    with pytest.raises(DesktopLost, match="locked"):
        sender.send(Turn("up"))
    assert sender.taken == 3
