"""One connection to a real X server."""

from collections.abc import Iterator

import pytest
import Xlib.error

from machine_client.desktop import DesktopError, InjectionUnavailable
from machine_client.x11.connection import X11Connection, errors_translated
from tests.desktop import Witness, resize_screen, set_layout, virtual_display


@pytest.fixture
def connection(display: str) -> Iterator[X11Connection]:
    connection = X11Connection(display)
    yield connection
    connection.close()


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


def test_errors_are_noticed_after_pynput_had_the_connection(connection: X11Connection) -> None:
    with connection.lent(1):
        connection.display.set_error_handler(None)
    connection.fake_key(1, down=True)
    with pytest.raises(Xlib.error.XError):
        connection.confirm()


def test_what_pynput_failed_to_send_does_not_count(connection: X11Connection) -> None:
    before = connection.confirmed

    def fail() -> None:
        with connection.lent(1):
            raise Xlib.error.ConnectionClosedError("server")

    with pytest.raises(DesktopError) as caught, errors_translated():
        fail()
    assert caught.value.code == "display_lost"
    assert connection.confirmed == before


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


def test_pressed_keys_are_told_whoever_holds_them(connection: X11Connection, display: str) -> None:
    other = X11Connection(display)
    other.fake_key(38, down=True)
    other.confirm()
    assert list(connection.pressed_keycodes()) == [38]
    other.fake_key(38, down=False)
    other.confirm()
    assert list(connection.pressed_keycodes()) == []
    other.close()


def test_a_server_without_xtest_is_named_in_the_reason() -> None:
    with (
        virtual_display("640x480x24", "-extension", "XTEST") as display,
        pytest.raises(InjectionUnavailable, match="XTEST"),
    ):
        X11Connection(display)


def test_closing_twice_is_closing_once(display: str) -> None:
    connection = X11Connection(display)
    connection.close()
    connection.close()
