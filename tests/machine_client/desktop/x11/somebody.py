"""Others who hold something on a display: xdotool, and a person at a real keyboard and mouse.

xdotool uses XTEST as we do, and so the same keyboard and mouse as ours.  A person's have a state of
their own in the X server; here they are those that Xvfb makes for itself and never moves.
"""

import contextlib
from collections.abc import Iterator
from typing import Any, Literal

import Xlib.display
from Xlib.ext import xinput
from Xlib.protocol import rq

from machine_client.desktop.x11.requests import EXTENSION, list_devices
from tests.desktop import somebody_else
from tests.held import x_display

What = Literal["key", "button"]

_MASTER_POINTER = 2
_FIRST_EVENT: dict[What, int] = {"key": 1, "button": 3}


class _FakeDeviceInput(rq.Request):
    """XTEST's FakeInput with an event of the X Input Extension, which names its device."""

    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(2),
        rq.RequestLength(),
        rq.Card8("event_type"),
        rq.Card8("detail"),
        rq.Pad(2),
        rq.Card32("time"),
        rq.Pad(23),
        rq.Card8("device"),
    )


class Person:
    """Somebody at the desk."""

    def __init__(self, display: str) -> None:
        self._display: Any = Xlib.display.Display(display)
        extension: Any = self._display.query_extension(EXTENSION)
        self._first_event = extension.first_event
        xtest: Any = self._display.query_extension("XTEST")
        self._opcode = xtest.major_opcode
        devices = list_devices(self._display.display, extension.major_opcode)
        ids = {device.name: device.id for device in devices}
        self._devices: dict[What, int] = {
            "key": ids["Xvfb keyboard"],
            "button": ids["Xvfb mouse"],
        }

    def press(self, what: What, number: int) -> None:
        self._send(what, number, 0)

    def release(self, what: What, number: int) -> None:
        self._send(what, number, 1)

    @contextlib.contextmanager
    def holding(self, what: What, number: int) -> Iterator[None]:
        self.press(what, number)
        try:
            yield
        finally:
            self.release(what, number)

    def close(self) -> None:
        self._display.close()

    def _send(self, what: What, number: int, offset: int) -> None:
        _FakeDeviceInput(
            display=self._display.display,
            opcode=self._opcode,
            event_type=self._first_event + _FIRST_EVENT[what] + offset,
            detail=number,
            time=0,
            device=self._devices[what],
        )
        self._display.sync()


@contextlib.contextmanager
def held_by_xdotool(display: str, what: Literal["key", "mouse"], name: str) -> Iterator[None]:
    """Another program holds a key, or a button by its number."""
    somebody_else(display, f"{what}down", name)
    try:
        yield
    finally:
        somebody_else(display, f"{what}up", name)


def pressed(display: str) -> tuple[set[int], set[int]]:
    """The keycodes and the buttons that are down on a display, whoever holds them."""
    with x_display(display) as connection:
        keymap = connection.query_keymap()
        (pointer,) = connection.xinput_query_device(_MASTER_POINTER).devices
    keycodes = {number for number in range(256) if keymap[number // 8] >> number % 8 & 1}
    (buttons,) = (each for each in pointer.classes if each.type == xinput.ButtonClass)
    return keycodes, {number for number in range(1, 11) if buttons.state[number - 1]}
