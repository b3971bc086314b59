"""One connection to a real X server."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11.connection import X11Connection, errors_translated, open_display
from machine_client.desktop.x11.requests import Kind
from tests.desktop import Witness, resize_screen, set_layout, virtual_display
from tests.machine_client.desktop.x11.somebody import held_by_xdotool

PROJECT = Path(__file__).parents[4]


def test_events_count_once_they_are_confirmed(connection: X11Connection, witness: Witness) -> None:
    before = connection.confirmed
    connection.fake_key(38, down=True)
    connection.fake_key(38, down=False)
    assert connection.confirmed == before
    connection.confirm()
    assert connection.confirmed == before + 2
    assert [str(event) for event in witness.take()] == ["KeyPress 38", "KeyRelease 38"]


def test_events_that_the_server_refused_do_not_count(connection: X11Connection) -> None:
    before = connection.confirmed
    connection.fake_key(1, down=True)
    with pytest.raises(DesktopError, match="refused") as caught, errors_translated():
        connection.confirm()
    assert caught.value.code == "display_error"
    assert connection.confirmed == before


def test_presses_of_what_is_down_and_releases_of_what_is_up_are_no_events(
    connection: X11Connection, witness: Witness
) -> None:
    before = connection.confirmed
    for down in (True, True, False, False):
        connection.fake_key(38, down=down)
    connection.confirm()
    assert connection.confirmed - before == len(witness.take()) == 2


def test_a_change_of_the_layout_is_noticed_once(connection: X11Connection, display: str) -> None:
    assert connection.take_keyboard_change()
    assert not connection.take_keyboard_change()
    set_layout(display, "de")
    assert connection.take_keyboard_change()
    assert not connection.take_keyboard_change()
    set_layout(display, "us")


def test_a_change_of_one_key_is_noticed(connection: X11Connection, display: str) -> None:
    connection.take_keyboard_change()
    other = X11Connection(display)
    other.change_key(248, 0x61, 0x61)
    other.confirm()
    assert connection.take_keyboard_change()
    other.change_key(248, 0, 0)
    other.confirm()
    other.close()


def test_a_change_of_the_screen_is_noticed_once() -> None:
    with virtual_display() as display:
        connection = X11Connection(display)
        assert connection.take_displays_change()
        assert not connection.take_displays_change()
        resize_screen(display, 800, 600)
        assert connection.take_displays_change()
        assert not connection.take_displays_change()
        connection.close()


def test_what_is_down_is_seen_whoever_holds_it(connection: X11Connection, display: str) -> None:
    with held_by_xdotool(display, "key", "a"):
        connection.look_at_keyboard()
        assert connection.down[Kind.KEYS] == {38}
    with held_by_xdotool(display, "mouse", "7"):
        connection.look_at_buttons()
        assert connection.down[Kind.BUTTONS] == {7}
        by_device = dict(connection.down_by_device(Kind.BUTTONS))
        assert {device.name for device, down in by_device.items() if down} == {
            "Virtual core XTEST pointer"
        }
    connection.look_at_keyboard()
    connection.look_at_buttons()
    assert connection.down == {Kind.KEYS: set(), Kind.BUTTONS: set()}


def test_a_server_without_xtest_is_named_in_the_reason() -> None:
    with (
        virtual_display("640x480x24", "-extension", "XTEST") as display,
        pytest.raises(InjectionUnavailable, match="lacks the extension XTEST"),
    ):
        X11Connection(display)


def test_closing_twice_is_closing_once(display: str) -> None:
    connection = X11Connection(display)
    connection.close()
    connection.close()


def test_a_server_that_ends_during_the_greeting_is_no_display() -> None:
    # 6000 is the TCP port of display 0.  The client is reset: its greeting is never read.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1] - 6000
        with ThreadPoolExecutor() as threads:
            opened = threads.submit(open_display, f"127.0.0.1:{number}")
            accepted, _ = listener.accept()
            accepted.recv(1)
            accepted.close()
            said = f"^The X display 127.0.0.1:{number} cannot be opened: .* closed by server"
            with pytest.raises(InjectionUnavailable, match=said):
                opened.result()


def test_servers_do_not_share_the_numbers_of_their_extensions() -> None:
    """In a program of its own: these tests keep them apart as well."""
    script = """
import Xlib.display
from Xlib import X
from machine_client.desktop.x11 import connection
opened = []
base = Xlib.display._BaseDisplay
tables = ("extension_major_opcodes", "error_classes", "event_classes")
Xlib.protocol.display.Display.__init__ = lambda self, *_: opened.append(self)
for _ in range(2):
    base(":0")
first, second = ([id(getattr(display, table)) for table in tables] for display in opened)
assert not set(first) & set(second)
assert X.KeyPress in opened[0].event_classes
"""
    subprocess.run([sys.executable, "-c", script], cwd=PROJECT, check=True)
