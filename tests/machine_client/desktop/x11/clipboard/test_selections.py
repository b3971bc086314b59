"""A connection that waits for events, and for nothing longer than it was told."""

import os
import time

import pytest
from Xlib import X

from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.x11.clipboard.selections import SelectionClient


def test_no_display_is_said() -> None:
    with pytest.raises(InjectionUnavailable, match="nonsense"):
        SelectionClient("nonsense")


def test_event_that_comes_is_returned_and_none_where_none_does(display: str) -> None:
    client = SelectionClient(display)
    assert client.next_event(time.monotonic()) is None
    client.window.change_property(client.atom("PRIMARY"), client.atom("STRING"), 8, b"a")
    event = client.next_event(time.monotonic() + 10)
    assert event is not None
    assert event.type == X.PropertyNotify
    client.display.close()


def test_wait_ends_when_something_else_can_be_read(display: str) -> None:
    client = SelectionClient(display)
    read, write = os.pipe()
    os.write(write, b".")
    client.wait(3600, read)  # It would not come back.
    os.close(read)
    os.close(write)
    client.display.close()
