"""Packed requests are byte for byte what python-xlib makes of the same."""

from typing import Any

import pytest
import Xlib.error
from Xlib import X, Xatom
from Xlib.ext import xtest
from Xlib.protocol import request

from machine_client.desktop.base import DesktopError
from machine_client.desktop.x11 import packed
from machine_client.desktop.x11.connection import X11Connection, errors_translated
from machine_client.desktop.x11.xinput import Kind


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
    packed.change_property(queue, 5, 6, numbers)
    packed.delete_property(queue, 5, 6)
    request.ChangeProperty(
        display=theirs, mode=X.PropModeReplace, window=5, property=6, type=Xatom.CARDINAL,
        data=(32, numbers),
    )  # fmt: skip
    request.DeleteProperty(display=theirs, window=5, property=6)
    assert queue.binaries == theirs.binaries


def test_events_are_faked_as_by_python_xlib() -> None:
    queue = Queue()
    theirs: Any = Queue()
    packed.fake_input(queue, 132, X.KeyPress, 38)
    xtest.FakeInput(
        display=theirs, opcode=132, event_type=X.KeyPress, detail=38, time=0, root=X.NONE, x=0, y=0
    )
    assert queue.binaries == theirs.binaries


def test_a_packed_request_that_the_server_refuses_is_an_error(display: str) -> None:
    connection = X11Connection(display)
    packed.delete_property(connection.display.display, 1, 1)
    with pytest.raises(Xlib.error.XError):
        connection.confirm()
    with pytest.raises(DesktopError), errors_translated():
        connection._state_of(99).down(Kind.KEYS)
    connection.close()
