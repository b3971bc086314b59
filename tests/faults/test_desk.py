"""The desk's count is right, for as many events as a long run makes."""

from collections.abc import Iterator
from typing import Any

import pytest
import Xlib.display
from Xlib import X
from Xlib.ext import xtest

from tests.faults.desk import Desk
from tests.faults.history import Place, place_of

COMMANDS = 20_000
AT_ONCE = 100


@pytest.fixture
def desk() -> Iterator[Desk]:
    with Desk.running() as desk:
        yield desk


@pytest.fixture
def connection(desk: Desk) -> Iterator[Any]:
    """A connection of a program that injects."""
    connection = Xlib.display.Display(desk.display)
    yield connection
    connection.close()


def click(connection: Any, place: Place, *events: int) -> None:
    xtest.fake_input(connection, X.MotionNotify, x=place.x, y=place.y)
    for event in events or (X.ButtonPress, X.ButtonRelease):
        xtest.fake_input(connection, event, 1)


def test_witness_loses_nothing_over_20000_commands(desk: Desk, connection: Any) -> None:
    for number in range(COMMANDS):
        for _ in range(1 + number % 2):
            click(connection, place_of(number))
        if number % AT_ONCE == 0:
            connection.sync()
    connection.sync()
    assert desk.count() == {place_of(number): 1 + number % 2 for number in range(COMMANDS)}


def test_count_is_added_up_over_counts(desk: Desk, connection: Any) -> None:
    for expected in (1, 2):
        click(connection, Place(5, 6))
        connection.sync()
        assert desk.count() == {Place(5, 6): expected}


def test_stuck_button_swallows_presses_until_it_is_released(desk: Desk, connection: Any) -> None:
    click(connection, Place(1, 1), X.ButtonPress)
    click(connection, Place(2, 2))
    click(connection, Place(3, 3), X.ButtonPress)
    connection.sync()
    stuck = desk.count()
    assert stuck == {Place(1, 1): 1, Place(3, 3): 1}
    desk.release_buttons()
    click(connection, Place(4, 4))
    connection.sync()
    assert desk.count() - stuck == {Place(4, 4): 1}


def test_places_are_all_different() -> None:
    count = 50_000
    assert len({place_of(number) for number in range(count)}) == count
