"""What a real X server says in XKB, beside what it says in its core protocol."""

from collections.abc import Iterator
from typing import Any

import pytest
import Xlib.display

from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.xkb import KeyDescription, KeyType, LevelEntry
from tests.desktop import set_layout


@pytest.fixture
def connection(display: str) -> Iterator[X11Connection]:
    connection = X11Connection(display)
    yield connection
    connection.close()
    set_layout(display, "us")


def keys(connection: X11Connection) -> dict[int, KeyDescription]:
    return {key.keycode: key for key in connection.keyboard_map()}


@pytest.mark.parametrize("layout", ["us", "de", "us,ru", "fr,gr,ru"])
def test_the_first_symbols_of_every_key_are_those_of_the_core_protocol(
    connection: X11Connection, display: str, layout: str
) -> None:
    set_layout(display, layout)
    core: Any = Xlib.display.Display(display)
    rows = core.get_keyboard_mapping(8, 248)
    core.close()
    described = keys(connection)
    assert set(described) == set(range(8, 256))
    for keycode, row in enumerate(rows, 8):
        first = described[keycode].group(0)
        symbols = (*(first.symbols if first else ()), 0, 0)
        assert list(symbols[:2]) == list(row[:2]), keycode


def test_types_say_which_modifiers_reach_a_level(connection: X11Connection, display: str) -> None:
    set_layout(display, "de")
    (one,) = keys(connection)[10].groups
    assert one.symbols[:2] == (ord("1"), ord("!"))
    assert LevelEntry(1, 1) in one.type.entries
    assert LevelEntry(128, 2) in one.type.entries
    (enter,) = keys(connection)[36].groups
    assert enter.type == KeyType(0, ())


def test_a_key_holds_modifiers_only_while_it_is_down(
    connection: X11Connection, display: str
) -> None:
    set_layout(display, "us,de")
    described = keys(connection)

    def holds(keycode: int) -> list[int]:
        return [group.holds for group in described[keycode].groups]

    shift, control, caps_lock, right_alt, letter = 50, 37, 66, 108, 38
    assert holds(shift)[0] == 1
    assert holds(control)[0] == 4
    assert holds(caps_lock)[0] == 0
    assert holds(letter)[0] == 0
    # Alt in one layout, the third level's shift in the other.
    assert holds(right_alt) == [8, 128]


def test_locks_and_latches_are_set_as_asked_and_read_back(connection: X11Connection) -> None:
    connection.set_locks_and_latches(affect_locks=2, locks=2, affect_latches=1, latches=1)
    state = connection.look_at_keyboard()
    assert (state.base, state.locked, state.latched, state.group) == (0, 2, 1, 0)
    # Bits beside the affected ones are left out: the server would refuse the whole request.
    connection.set_locks_and_latches(affect_locks=2, locks=16, affect_latches=1, latches=4)
    state = connection.look_at_keyboard()
    assert (state.locked, state.latched) == (0, 0)
    connection.confirm()
