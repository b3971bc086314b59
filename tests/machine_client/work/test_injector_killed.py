"""What a machine client that was killed had pressed is released by the next one, and no more."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import Xlib.display
from Xlib import X

from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work.injector import DesktopInjector, InjectionUnavailable
from schemas.inputs.bodies import AnyInput, ClickMouse, DragMouse, MoveMouse, PressKeys, TypeText
from schemas.link.messages import Released
from tests.desktop import Witness, somebody_else, virtual_display
from tests.held import keyboard_map, x_display
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool
from tests.machine_client.desktop.x11.typed import told
from tests.machine_client.pressing import killed_after, killed_while_pressing, pressing


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A display of this module's own: what is left on it is nobody else's."""
    with display_without_repeats() as name:
        yield name


@contextmanager
def display_without_repeats() -> Iterator[str]:
    """A display that does not press a key again and again that is held as long as a start takes."""
    with virtual_display() as name:
        connection: Any = Xlib.display.Display(name)
        connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
        connection.sync()
        yield name
        connection.close()


@pytest.fixture
def witness(display: str) -> Iterator[Witness]:
    with closing(Witness(display)) as witness:
        yield witness


def released_at_the_next_start(display: str) -> Released | None:
    with closing(DesktopInjector(X11Desktop(display))) as injector:
        return injector.take_released()


def records(display: str) -> list[str]:
    """The records that clients have on the server."""
    with x_display(display) as connection:
        names = map(connection.get_atom_name, connection.screen().root.list_properties())
        return [name for name in names if name.startswith("_FARHAND_INPUT_")]


CLICK = ClickMouse(x=30, y=40)


@pytest.mark.parametrize(
    ("body", "presses", "events", "released"),
    [
        (CLICK, 1, ["ButtonRelease 1"], Released(buttons=["left"], keys=0)),
        (
            ClickMouse(button="right", clicks=3),
            2,
            ["ButtonRelease 3"],
            Released(buttons=["right"], keys=0),
        ),
        (
            DragMouse(start_x=1, start_y=2, to_x=300, to_y=400, button="middle"),
            1,
            ["ButtonRelease 2"],
            Released(buttons=["middle"], keys=0),
        ),
        (
            ClickMouse(button="forward", modifiers=("ctrl", "alt")),
            3,
            ["ButtonRelease 9", "KeyRelease 64", "KeyRelease 37"],
            Released(buttons=["forward"], keys=2),
        ),
        (
            PressKeys(text="ctrl+a", hold=60),
            2,
            ["KeyRelease 38", "KeyRelease 37"],
            Released(buttons=[], keys=2),
        ),
        (PressKeys(text="ctrl+a"), 1, ["KeyRelease 37"], Released(buttons=[], keys=1)),
        (
            PressKeys(text="ctrl+a"),
            2,
            ["KeyRelease 38", "KeyRelease 37"],
            Released(buttons=[], keys=2),
        ),
        (TypeText(text="abc"), 2, ["KeyRelease 56"], Released(buttons=[], keys=1)),
        (TypeText(text="a漢"), 2, ["KeyRelease 248"], Released(buttons=[], keys=1)),
        (ClickMouse(down=True), 1, ["ButtonRelease 1"], Released(buttons=["left"], keys=0)),
        (PressKeys(text="a", down=True), 1, ["KeyRelease 38"], Released(buttons=[], keys=1)),
        (PressKeys(text="shift", down=True), 1, ["KeyRelease 50"], Released(buttons=[], keys=1)),
    ],
)
def test_a_client_killed_between_press_and_release_leaves_nothing_pressed(
    display: str,
    witness: Witness,
    body: AnyInput,
    presses: int,
    events: list[str],
    released: Released,
) -> None:
    before = keyboard_map(display)
    killed_while_pressing(display, body, presses=presses)
    assert told(witness)[-1].startswith(("ButtonPress", "KeyPress"))
    assert records(display)
    assert released_at_the_next_start(display) == released
    assert told(witness) == events
    assert records(display) == []
    assert keyboard_map(display) == before
    assert released_at_the_next_start(display) is None
    assert told(witness) == []


def test_what_earlier_inputs_held_is_released_last_one_first(
    display: str, witness: Witness
) -> None:
    held = (ClickMouse(button="right", down=True), PressKeys(text="ctrl+漢", down=True))
    before = keyboard_map(display)
    killed_after(display, *held, MoveMouse(x=5, y=5))
    witness.take()
    assert keyboard_map(display) != before
    assert released_at_the_next_start(display) == Released(buttons=["right"], keys=2)
    assert told(witness) == ["ButtonRelease 3", "KeyRelease 248", "KeyRelease 37"]
    assert keyboard_map(display) == before


def test_lent_keys_alone_are_given_back_and_not_told(display: str, witness: Witness) -> None:
    before = keyboard_map(display)
    killed_after(display, TypeText(text="漢字"))
    assert keyboard_map(display) != before
    witness.take()
    assert released_at_the_next_start(display) is None
    assert keyboard_map(display) == before
    assert told(witness) == []


def test_a_lent_key_that_somebody_mapped_anew_stays_theirs(display: str) -> None:
    killed_after(display, TypeText(text="漢"))
    connection: Any = Xlib.display.Display(display)
    connection.change_keyboard_mapping(248, [[0x62, 0x42]])
    connection.sync()
    assert released_at_the_next_start(display) is None
    assert keyboard_map(display)[248 - 8][:2] == (0x62, 0x42)
    connection.change_keyboard_mapping(248, [[0, 0]])
    connection.sync()
    connection.close()
    assert records(display) == []


def test_what_others_hold_stays(display: str, witness: Witness) -> None:
    person = Person(display)
    with (
        held_by_xdotool(display, "key", "b"),
        held_by_xdotool(display, "mouse", "3"),
        person.holding("key", 40),
        person.holding("button", 2),
    ):
        killed_while_pressing(display, PressKeys(text="ctrl+a", down=True), presses=2)
        witness.take()
        assert released_at_the_next_start(display) == Released(buttons=[], keys=2)
        assert told(witness) == ["KeyRelease 38", "KeyRelease 37"]
    assert told(witness) == ["ButtonRelease 2", "KeyRelease 40", "ButtonRelease 3", "KeyRelease 56"]
    person.close()


def test_what_somebody_has_released_since_and_a_person_holds_now_stays(
    display: str, witness: Witness
) -> None:
    killed_after(display, PressKeys(text="a", down=True), ClickMouse(down=True))
    somebody_else(display, "keyup", "a", "mouseup", "1")
    person = Person(display)
    with person.holding("key", 38), person.holding("button", 1):
        witness.take()
        assert released_at_the_next_start(display) is None
        assert told(witness) == []
    person.close()


def test_a_client_that_lives_keeps_what_it_holds(display: str, witness: Witness) -> None:
    with pressing(display, PressKeys(text="shift", down=True)) as living:
        assert living.stdout is not None
        living.stdout.readline()
        killed_after(display, ClickMouse(button="middle", down=True))
        witness.take()
        other = DesktopInjector(X11Desktop(display))
        assert other.take_released() == Released(buttons=["middle"], keys=0)
        assert told(witness) == ["ButtonRelease 2"]
        assert len(records(display)) == 1
        other.close()
        living.kill()
    assert released_at_the_next_start(display) == Released(buttons=[], keys=1)


def test_several_clients_that_died_are_all_released(display: str, witness: Witness) -> None:
    bodies = (ClickMouse(down=True), ClickMouse(button="right", down=True))
    with pressing(display, bodies[0]) as first, pressing(display, bodies[1]) as second:
        for each in (first, second):
            assert each.stdout is not None
            each.stdout.readline()
            assert each.poll() is None
        assert len(records(display)) == 2
        for each in (first, second):
            each.kill()
    witness.take()
    assert released_at_the_next_start(display) == Released(buttons=["left", "right"], keys=0)
    assert sorted(told(witness)) == ["ButtonRelease 1", "ButtonRelease 3"]
    assert records(display) == []


def test_another_server_on_the_same_display_knows_of_nothing() -> None:
    with virtual_display() as display:
        killed_after(display, PressKeys(text="a", down=True))
    with display_without_repeats() as display:
        witness = Witness(display)
        with held_by_xdotool(display, "key", "a"):
            witness.take()
            assert released_at_the_next_start(display) is None
            assert told(witness) == []
        witness.close()


def test_release_is_told_once_and_logged_without_the_keys(
    display: str, caplog: pytest.LogCaptureFixture
) -> None:
    killed_after(
        display, ClickMouse(button="middle", down=True), PressKeys(text="ctrl+w", down=True)
    )
    with caplog.at_level(logging.WARNING):
        injector = DesktopInjector(X11Desktop(display))
    assert injector.take_released() == Released(buttons=["middle"], keys=2)
    assert injector.take_released() is None
    injector.close()
    (record,) = caplog.records
    assert record.getMessage() == (
        "released what a machine client that died had left pressed: the middle button, 2 keys"
    )


def test_a_client_that_lost_its_connection_releases_when_the_desktop_is_back(
    display: str, witness: Witness
) -> None:
    injector = DesktopInjector(X11Desktop(display))
    injector.prepare(ClickMouse(down=True))()
    desktop: Any = injector._input
    killer: Any = Xlib.display.Display(display)
    window = desktop._holding._server._window.id
    killer.create_resource_object("window", window).kill_client()
    killer.sync()
    killer.close()
    with pytest.raises(InjectionUnavailable):
        injector.prepare(PressKeys(text="a"))
    injector.close()
    witness.take()
    injector = DesktopInjector(X11Desktop(display))
    injector.prepare(PressKeys(text="a"))()
    assert injector.take_released() == Released(buttons=["left"], keys=0)
    assert told(witness) == ["ButtonRelease 1", "KeyPress 38", "KeyRelease 38"]
    injector.close()
    assert told(witness) == []
