"""Packed requests are what python-xlib makes of the same, and what X Input tells of devices."""

from typing import Any

import pytest
import Xlib.error
from Xlib import X, Xatom
from Xlib.ext import xtest
from Xlib.protocol import request

from machine_client.desktop.base import DesktopError
from machine_client.desktop.x11 import requests
from machine_client.desktop.x11.connection import X11Connection, errors_translated
from machine_client.desktop.x11.requests import InputDevice, Kind, Use
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool


class Queue:
    """Takes requests instead of a display."""

    def __init__(self) -> None:
        self.binaries: list[bytes] = []

    def send_request(self, sent: Any, _waits: bool) -> None:
        self.binaries.append(bytes(sent._binary))


@pytest.mark.parametrize("numbers", [[], [7], [1, 2, 2**32 - 1]])
def test_properties_are_changed_and_deleted_as_by_python_xlib(numbers: list[int]) -> None:
    queue = Queue()
    theirs: Any = Queue()
    requests.change_property(queue, 5, 6, numbers)
    requests.delete_property(queue, 5, 6)
    request.ChangeProperty(
        display=theirs, mode=X.PropModeReplace, window=5, property=6, type=Xatom.CARDINAL,
        data=(32, numbers),
    )  # fmt: skip
    request.DeleteProperty(display=theirs, window=5, property=6)
    assert queue.binaries == theirs.binaries


def test_events_are_faked_as_by_python_xlib() -> None:
    queue = Queue()
    theirs: Any = Queue()
    requests.fake_input(queue, 132, X.KeyPress, 38)
    xtest.FakeInput(
        display=theirs, opcode=132, event_type=X.KeyPress, detail=38, time=0, root=X.NONE, x=0, y=0
    )
    assert queue.binaries == theirs.binaries


def test_a_packed_request_that_the_server_refuses_is_an_error(display: str) -> None:
    connection = X11Connection(display)
    requests.delete_property(connection.display.display, 1, 1)
    with pytest.raises(Xlib.error.XError):
        connection.confirm()
    with pytest.raises(DesktopError), errors_translated():
        connection._state_of(99).down(Kind.KEYS)
    connection.close()


def test_devices_have_names_and_uses_and_those_of_xtest_are_known(
    connection: X11Connection,
) -> None:
    devices = connection._list_devices()
    assert InputDevice(2, "Virtual core pointer", Use.POINTER) in devices
    assert InputDevice(3, "Virtual core keyboard", Use.KEYBOARD) in devices
    assert [device.use for device in devices if device.is_of_xtest] == [
        Use.SLAVE_POINTER,
        Use.SLAVE_KEYBOARD,
    ]


def test_what_each_device_has_down_is_told_apart(connection: X11Connection, display: str) -> None:
    person = Person(display)

    def down(kind: Kind) -> dict[str, frozenset[int]]:
        return {device.name: held for device, held in connection.down_by_device(kind) if held}

    with person.holding("key", 38), held_by_xdotool(display, "key", "b"):
        assert down(Kind.KEYS) == {
            "Xvfb keyboard": frozenset({38}),
            "Virtual core XTEST keyboard": frozenset({56}),
        }
        assert down(Kind.BUTTONS) == {}
    with person.holding("button", 3):
        assert down(Kind.BUTTONS) == {"Xvfb mouse": frozenset({3})}
    person.close()
