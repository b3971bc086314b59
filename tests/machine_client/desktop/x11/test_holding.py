"""Who holds what on a real X server, while programs and persons hold something, too."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import Xlib.display
from Xlib import X

from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.holding import Holding
from machine_client.desktop.x11.requests import Kind
from tests.desktop import Witness
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool


@pytest.fixture
def holding(connection: X11Connection) -> Holding:
    return Holding(connection)


@pytest.fixture
def person(display: str) -> Iterator[Person]:
    with closing(Person(display)) as person:
        yield person


def others(connection: X11Connection, holding: Holding) -> frozenset[int]:
    connection.look_at_keyboard()
    return holding.held_by_others(Kind.KEYS)


def test_what_programs_and_persons_hold_is_others_and_what_we_hold_is_not(
    connection: X11Connection, holding: Holding, person: Person, display: str
) -> None:
    holding.press_key(40)
    assert others(connection, holding) == set()
    with held_by_xdotool(display, "key", "b"), person.holding("key", 38):
        assert others(connection, holding) == {56, 38}
    with person.holding("key", 40):
        holding.release_key(40)
        assert others(connection, holding) == set()
    assert others(connection, holding) == set()


def test_a_release_that_waits_behind_a_window_manager_is_nobodys_hold(
    connection: X11Connection, holding: Holding, display: str
) -> None:
    manager: Any = Xlib.display.Display(display)
    root = manager.screen().root
    root.grab_button(
        1, X.AnyModifier, True, X.ButtonPressMask, X.GrabModeSync, X.GrabModeAsync, X.NONE, X.NONE
    )
    manager.sync()
    for down in (True, False):
        connection.display.xtest_fake_input(X.ButtonPress if down else X.ButtonRelease, 1)
    connection.look_at_buttons()
    assert connection.down[Kind.BUTTONS] == {1}
    assert holding.held_by_others(Kind.BUTTONS) == set()
    assert connection.down[Kind.BUTTONS] == set()
    manager.allow_events(X.AsyncPointer, X.CurrentTime)
    root.ungrab_button(1, X.AnyModifier)
    manager.sync()
    manager.close()


def test_a_modifier_that_was_put_back_for_a_person_can_be_pressed_by_us_later(
    connection: X11Connection, holding: Holding, person: Person, witness: Witness
) -> None:
    with person.holding("key", 50):
        holding.set_aside(50)
        holding.put_back(50)
        connection.confirm()
    witness.take()
    connection.look_at_keyboard()
    holding.press_key(50)
    holding.release_key(50)
    connection.confirm()
    assert [str(event) for event in witness.take()] == ["KeyPress 50", "KeyRelease 50"]
