"""What is pressed when an input begins, by whomever: no press is lost, and nothing stays pressed.

The X server drops a press of what is down already, and keeps what a killed client has pressed.
"""

import signal
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.desktop import DeviceEvent, Witness, somebody_else, virtual_display
from tests.end_to_end.system import Workstation, presses
from tests.held import NOTHING, held_on, keyboard_map, keycode_of
from tests.processes import Answer

CLICK: dict[str, Any] = {"x": 900, "y": 700}
DRAG: dict[str, Any] = {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700}
PRESS, RELEASE = "ButtonPress 1", "ButtonRelease 1"

CUT_SHORT: dict[str, tuple[str, Mapping[str, Any], int]] = {
    "click": ("mouse/click", CLICK, 1),
    "second of three clicks": ("mouse/click", CLICK | {"clicks": 3}, 2),
    "press of a button": ("mouse/click", CLICK | {"down": True}, 1),
    "drag": ("mouse/drag", DRAG, 1),
    "modifier of a combination": ("keyboard/key", {"text": "ctrl+shift+a"}, 1),
    "combination": ("keyboard/key", {"text": "ctrl+shift+a"}, 3),
    "press of keys": ("keyboard/key", {"text": "shift+f5", "down": True}, 2),
    "text": ("keyboard/type", {"text": "Farhand"}, 4),
    "character that was lent a key": ("keyboard/type", {"text": "я"}, 1),
}
"""An input, and at which of its presses its client is killed."""


@pytest.fixture
def display() -> Iterator[str]:
    """A display of the test's own, so that what one leaves pressed fails no other."""
    with virtual_display() as name:
        yield name
        assert held_on(name) == NOTHING


@pytest.fixture
def witness(display: str) -> Iterator[Witness]:
    witness = Witness(display)
    yield witness
    witness.close()


@pytest.fixture
def letter_a(display: str) -> int:
    """The keycode of ``a``."""
    return keycode_of(display, ord("a"))


def problem(answer: Answer) -> tuple[int, str]:
    return answer.status, str(answer.json.get("type", "")).removeprefix("/problems/")


def at_its_place(events: list[DeviceEvent], body: Mapping[str, Any]) -> list[str]:
    """The presses and releases at the place of a click."""
    return [str(event) for event in events if (event.x, event.y) == (body["x"], body["y"])]


@pytest.mark.parametrize("name", CUT_SHORT)
def test_what_a_killed_client_held_is_released_before_it_is_ready_again(
    workstation: Workstation, witness: Witness, display: str, name: str
) -> None:
    operation, body, number = CUT_SHORT[name]
    map_before, key = keyboard_map(display), f"cut-{workstation.machine}"
    with workstation.joined(failpoints=f"after-press=kill@{number}") as killed:
        assert problem(workstation.send(operation, key, **body)) == (
            504,
            "outcome-pending",
        )
        assert killed.ends() == -signal.SIGKILL
    assert held_on(display) != NOTHING
    with workstation.joined():
        assert held_on(display) == NOTHING
        assert keyboard_map(display) == map_before
        arrived = witness.take()
        answer = workstation.send(operation, key, **body)
        assert problem(answer) == (502, "outcome-unknown")
        assert answer.json.get("injected_at_least", 0) <= len(arrived)
        assert witness.take() == []
        assert workstation.send("mouse/click", **CLICK).status == 200
        assert presses(witness.take()) == [PRESS, RELEASE]


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("mouse/click", CLICK | {"down": True}),
        ("keyboard/key", {"text": "ctrl", "down": True}),
        ("keyboard/key", {"text": "a", "down": True}),
    ],
)
def test_what_was_held_for_long_is_released_after_a_kill_too(
    workstation: Workstation,
    witness: Witness,
    display: str,
    operation: str,
    body: Mapping[str, Any],
) -> None:
    with workstation.joined() as client:
        assert workstation.send(operation, **body).status == 200
        # The mark of a later input does not hide that this one still holds something.
        assert workstation.send("mouse/move", x=5, y=5).status == 200
        client.kill()
    assert held_on(display) != NOTHING
    with workstation.joined():
        assert held_on(display) == NOTHING
        witness.take()
        assert workstation.send("keyboard/type", text="ab").status == 200
        assert workstation.send("mouse/click", **CLICK).status == 200
        kinds = [event.kind for event in witness.take() if event.kind != "MotionNotify"]
    assert kinds == ["KeyPress", "KeyRelease"] * 2 + ["ButtonPress", "ButtonRelease"]


def test_client_that_is_killed_twice_leaves_nothing_pressed(
    workstation: Workstation, display: str
) -> None:
    for number in range(2):
        with workstation.joined(failpoints="after-press=kill@2") as killed:
            workstation.send("keyboard/key", f"killed-{number}", text="ctrl+shift+a")
            assert killed.ends() == -signal.SIGKILL
        assert held_on(display) != NOTHING
    with workstation.joined():
        assert held_on(display) == NOTHING


@pytest.mark.parametrize(
    ("operation", "body", "happens"),
    [
        ("mouse/click", CLICK, [PRESS, RELEASE]),
        ("mouse/click", CLICK | {"clicks": 2}, [PRESS, RELEASE] * 2),
        ("mouse/drag", DRAG, [PRESS, RELEASE]),
    ],
)
def test_button_that_we_hold_is_released_before_it_is_pressed_anew(
    workstation: Workstation,
    witness: Witness,
    operation: str,
    body: Mapping[str, Any],
    happens: list[str],
) -> None:
    with workstation.joined():
        assert workstation.send("mouse/click", x=10, y=10, down=True).status == 200
        assert presses(witness.take()) == [PRESS]
        assert workstation.send(operation, **body).status == 200
        assert presses(witness.take()) == [RELEASE, *happens]
        assert workstation.send("mouse/click", **CLICK).status == 200
        assert presses(witness.take()) == [PRESS, RELEASE]


def test_button_that_is_pressed_twice_is_released_between(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined():
        for place in (10, 20):
            answer = workstation.send("mouse/click", x=place, y=place, down=True)
            assert answer.status == 200
        assert presses(witness.take()) == [PRESS, RELEASE, PRESS]
        assert workstation.send("mouse/click", x=30, y=30, down=False).status == 200
        assert presses(witness.take()) == [RELEASE]


def test_key_that_we_hold_goes_up_and_down_when_it_is_typed(
    workstation: Workstation, witness: Witness, letter_a: int
) -> None:
    down, up = f"KeyPress {letter_a}", f"KeyRelease {letter_a}"
    with workstation.joined():
        assert workstation.send("keyboard/key", text="a", down=True).status == 200
        assert presses(witness.take()) == [down]
        assert workstation.send("keyboard/key", text="a").status == 200
        assert presses(witness.take())[:2] == [up, down]
        assert workstation.send("keyboard/key", text="a", down=True).status == 200
        assert presses(witness.take())[-2:] in ([up, down], [down])
        assert workstation.send("keyboard/key", text="a", down=False).status == 200
        assert presses(witness.take()) == [up]


def test_modifier_that_we_hold_counts_for_what_follows(
    workstation: Workstation, witness: Witness, letter_a: int
) -> None:
    with workstation.joined() as client:
        assert workstation.send("keyboard/key", text="shift", down=True).status == 200
        witness.take()
        assert workstation.send("keyboard/type", text="A").status == 200
        assert presses(witness.take()) == [f"KeyPress {letter_a}", f"KeyRelease {letter_a}"]
        assert client.terminate() == 0


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("mouse/click", CLICK),
        ("mouse/click", CLICK | {"down": True}),
        ("mouse/drag", DRAG),
    ],
)
def test_button_that_somebody_else_holds_is_refused_before_the_first_event(
    workstation: Workstation,
    witness: Witness,
    display: str,
    operation: str,
    body: Mapping[str, Any],
    *,
    is_keyed: bool,
) -> None:
    # A key is the organization's, whichever machine it is for.
    key = f"refused-{workstation.machine}" if is_keyed else None
    with workstation.joined():
        somebody_else(display, "mousedown", "1")
        witness.take()
        answer = workstation.send(operation, key, **body)
        arrived = witness.take()
        other_button = workstation.send("mouse/click", **CLICK, button="right")
        somebody_else(display, "mouseup", "1")
        witness.take()
        assert problem(answer) == (502, "input-failed")
        assert (answer.json["code"], answer.json["injected_at_least"]) == ("already_down", 0)
        assert arrived == []
        assert other_button.status == 200
        assert workstation.send("mouse/click", **CLICK).status == 200
        assert at_its_place(witness.take(), CLICK) == ["MotionNotify 0", PRESS, RELEASE]
        if key is not None:
            assert workstation.send(operation, key, **body).body == answer.body
            assert witness.take() == []


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("keyboard/key", {"text": "a"}),
        ("keyboard/key", {"text": "b ctrl+a"}),
        ("keyboard/key", {"text": "a", "down": True}),
        ("keyboard/type", {"text": "banana"}),
    ],
)
def test_key_that_somebody_else_holds_is_refused_before_the_first_event(
    workstation: Workstation,
    witness: Witness,
    display: str,
    letter_a: int,
    operation: str,
    body: Mapping[str, Any],
) -> None:
    with workstation.joined():
        somebody_else(display, "keydown", "a")
        witness.take()
        answer = workstation.send(operation, **body)
        arrived = witness.take()
        other_key = workstation.send("keyboard/type", text="bc")
        somebody_else(display, "keyup", "a")
        assert problem(answer) == (502, "input-failed")
        assert (answer.json["code"], answer.json["injected_at_least"]) == ("already_down", 0)
        assert arrived == []
        assert other_key.status == 200
        witness.take()
        assert workstation.send("keyboard/type", text="a").status == 200
        assert presses(witness.take()) == [f"KeyPress {letter_a}", f"KeyRelease {letter_a}"]


def test_modifier_that_somebody_else_holds_is_set_aside(
    workstation: Workstation, witness: Witness, display: str, letter_a: int
) -> None:
    with workstation.joined():
        somebody_else(display, "keydown", "shift")
        witness.take()
        assert workstation.send("keyboard/type", text="a").status == 200
        typed = [event for event in witness.take() if event.detail == letter_a]
        somebody_else(display, "keyup", "shift")
    assert [(event.kind, event.state & 1) for event in typed] == [
        ("KeyPress", 0),
        ("KeyRelease", 0),
    ]


def test_release_of_what_nobody_holds_is_completed(
    workstation: Workstation, witness: Witness
) -> None:
    with workstation.joined():
        assert workstation.send("mouse/click", **CLICK, down=False).status == 200
        assert workstation.send("keyboard/key", text="a", down=False).status == 200
    assert presses(witness.take()) == []


def test_client_that_stops_says_that_nothing_is_held(
    workstation: Workstation, display: str
) -> None:
    with workstation.joined() as client:
        assert workstation.send("keyboard/key", text="ctrl+f5", down=True).status == 200
        assert workstation.send("mouse/click", **CLICK, down=True).status == 200
        assert held_on(display) != NOTHING
        assert client.terminate() == 0
    assert held_on(display) == NOTHING
