"""The witness sees everything, for as many events as a long run makes, and knows who did it."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import Xlib.display
from Xlib import X
from Xlib.ext import xtest

from tests.desktop import Witness
from tests.faults.arrivals import Arrival, Kind, Place
from tests.faults.history import Clock
from tests.faults.inputs import place_of
from tests.faults.other_desktops import without_letting_go
from tests.faults.witnessed_desktop import WitnessedDesktop
from tests.machine_client.desktop.x11.clipboard.programs import copied
from tests.processes import until

COMMANDS = 20_000

LONG = b"a long text " * 30_000
AT_ONCE = 100


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desktop(clock: Clock) -> Iterator[WitnessedDesktop]:
    with WitnessedDesktop.running(clock) as desktop:
        yield desktop


@pytest.fixture
def connection(desktop: WitnessedDesktop) -> Iterator[Any]:
    """A connection of a program that injects."""
    with contextlib.closing(Xlib.display.Display(desktop.display)) as connection:
        yield connection


def click(connection: Any, place: Place, *events: int) -> None:
    xtest.fake_input(connection, X.MotionNotify, x=place.x, y=place.y)
    for event in events or (X.ButtonPress, X.ButtonRelease):
        xtest.fake_input(connection, event, 1)


def described(arrivals: list[Arrival]) -> list[str]:
    return [f"{arrival.kind.value} {arrival.what}" for arrival in arrivals]


def test_witness_loses_nothing_over_20000_commands(
    desktop: WitnessedDesktop, connection: Any
) -> None:
    """It keeps up: for a listener that is thousands of events behind X's RECORD drops some."""
    for number in range(COMMANDS):
        click(connection, place_of(number))
        if number % AT_ONCE == 0:
            connection.sync()
            desktop.arrivals()
    connection.sync()
    kinds = (Kind.MOTION, Kind.PRESS, Kind.RELEASE)
    assert [(arrival.kind, arrival.place) for arrival in desktop.arrivals()] == [
        (kind, place_of(number)) for number in range(COMMANDS) for kind in kinds
    ]


def test_motion_that_was_lost_is_known_by_the_next_event(
    desktop: WitnessedDesktop, connection: Any
) -> None:
    click(connection, Place(5, 6))
    connection.sync()
    witness = desktop._witness
    events = witness.take()
    witness._events = [event for event in events if event.kind != "MotionNotify"]
    assert described(desktop.arrivals()) == ["motion pointer", "press left", "release left"]


def test_arrivals_are_those_of_all_time_with_their_times(
    desktop: WitnessedDesktop, connection: Any, clock: Clock
) -> None:
    began = clock()
    for expected in (1, 2):
        click(connection, Place(5, 6))
        connection.sync()
        assert (
            described(desktop.arrivals())
            == ["motion pointer", "press left", "release left"] * expected
        )
    # The X server counts in milliseconds.
    assert all(began - 0.1 <= arrival.at <= clock() + 0.1 for arrival in desktop.arrivals())


def test_keys_are_told_by_their_names(desktop: WitnessedDesktop, connection: Any) -> None:
    for keysym in (0xFFE1, ord("a"), 0xFFBE, 0xFF0D):
        keycode = connection.keysym_to_keycode(keysym)
        xtest.fake_input(connection, X.KeyPress, keycode)
        xtest.fake_input(connection, X.KeyRelease, keycode)
    connection.sync()
    seen = [arrival.what for arrival in desktop.arrivals() if arrival.kind is Kind.PRESS]
    assert seen == ["shift", "a", "f1", f"keycode {keycode}"]


def test_what_is_held_is_seen_until_it_is_released(
    desktop: WitnessedDesktop, connection: Any
) -> None:
    keycode = connection.keysym_to_keycode(ord("a"))
    assert desktop.held() == frozenset()
    xtest.fake_input(connection, X.ButtonPress, 1)
    # The core protocol does not tell that the seventh button is down.
    xtest.fake_input(connection, X.ButtonPress, 7)
    xtest.fake_input(connection, X.KeyPress, keycode)
    connection.sync()
    assert desktop.held() == {"left", "wheel right", "a"}
    for event, detail in ((X.ButtonRelease, 1), (X.ButtonRelease, 7), (X.KeyRelease, keycode)):
        xtest.fake_input(connection, event, detail)
    connection.sync()
    assert desktop.held() == frozenset()


def test_what_was_held_before_the_witness_came_is_seen_as_well(
    desktop: WitnessedDesktop, connection: Any
) -> None:
    xtest.fake_input(connection, X.ButtonPress, 3)
    connection.sync()
    late = WitnessedDesktop(desktop.display, Clock())
    assert late.held() == {"right"}
    late.close()
    xtest.fake_input(connection, X.ButtonRelease, 3)
    connection.sync()


def test_key_that_stays_down_is_pressed_once(desktop: WitnessedDesktop, connection: Any) -> None:
    """X repeats it; and it drops a second press of a button, which so is never seen."""
    keycode = connection.keysym_to_keycode(ord("a"))
    with contextlib.closing(Witness(desktop.display)) as witness:
        xtest.fake_input(connection, X.KeyPress, keycode)
        connection.sync()
        until(lambda: len(witness.seen()) > 2, "X repeats the key")
    xtest.fake_input(connection, X.KeyRelease, keycode)
    for _ in range(2):
        xtest.fake_input(connection, X.ButtonPress, 1)
    xtest.fake_input(connection, X.ButtonRelease, 1)
    connection.sync()
    assert described(desktop.arrivals()) == ["press a", "release a", "press left", "release left"]


def test_person_is_told_from_programs(desktop: WitnessedDesktop, connection: Any) -> None:
    desktop.press("left")
    desktop.press("a")
    assert desktop.held() == {"left", "a"}
    click(connection, Place(2, 2), X.ButtonPress)
    connection.sync()
    desktop.release("a")
    desktop.release("left")
    click(connection, Place(3, 3))
    connection.sync()
    seen = [(str(each.kind.value), each.what, each.by_person) for each in desktop.arrivals()]
    assert seen == [
        ("press", "left", True),
        ("press", "a", True),
        ("motion", "pointer", False),
        ("release", "a", True),
        ("release", "left", True),
        ("motion", "pointer", False),
        ("press", "left", False),
        ("release", "left", False),
    ]


def test_each_copied_text_is_seen_once_however_long_it_is(
    desktop: WitnessedDesktop, clock: Clock
) -> None:
    began_at = clock()
    with copied(desktop.display, {"UTF8_STRING": LONG}):
        desktop.copies()
    with copied(desktop.display, {"UTF8_STRING": b"short"}, selection="PRIMARY"):
        desktop.copies()
    # The same again is another change; and of what is no text nobody can say what it is.
    with copied(desktop.display, {"UTF8_STRING": LONG}):
        desktop.copies()
        with copied(desktop.display, {"image/png": b"png"}):
            seen = desktop.copies()
    assert [(each.selection, each.text) for each in seen] == [
        ("clipboard", LONG),
        ("primary", b"short"),
        ("clipboard", LONG),
        ("clipboard", None),
    ]
    assert all(began_at - 0.01 < each.at < clock() for each in seen)
    assert len(desktop.copies()) == len(seen)


def test_owner_that_is_gone_before_it_says_its_text_is_counted(
    desktop: WitnessedDesktop, connection: Any
) -> None:
    window = connection.screen().root.create_window(0, 0, 1, 1, 0, 0)
    window.set_selection_owner(connection.intern_atom("CLIPBOARD"), X.CurrentTime)
    connection.sync()
    window.destroy()
    connection.sync()
    (seen,) = desktop.copies()
    assert (seen.selection, seen.text) == ("clipboard", None)


def test_vnc_server_that_lets_go_moves_the_pointer_back_for_nobody() -> None:
    earlier, start, end = (place_of(number) for number in range(3))
    click = [
        Arrival(Kind.MOTION, "pointer", earlier, 1.0),
        Arrival(Kind.PRESS, "left", earlier, 1.0),
        Arrival(Kind.RELEASE, "left", earlier, 1.0),
    ]
    cut_off = [
        Arrival(Kind.MOTION, "pointer", start, 2.0),
        Arrival(Kind.PRESS, "middle", start, 2.0),
        Arrival(Kind.MOTION, "pointer", end, 2.0),
    ]
    back = Arrival(Kind.MOTION, "pointer", earlier, 2.1)
    release = Arrival(Kind.RELEASE, "middle", earlier, 2.1)
    assert without_letting_go([*click, *cut_off, back, release]) == [*click, *cut_off, release]
    whole = [*click, *cut_off, Arrival(Kind.RELEASE, "middle", end, 2.1)]
    assert without_letting_go(whole) == whole
    twice = [*click, *click]
    assert without_letting_go(twice) == twice
