"""What an injector does to a real X server, as a witness there sees it."""

import contextlib
import gc
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.injector import DesktopInjector, InjectionFailed, InjectionUnavailable, Refusal
from schemas.inputs.bodies import AnyInput, ClickMouse, DragMouse, MoveMouse, PressKeys, ScrollMouse
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from tests.desktop import Terminal, Witness, eventually, virtual_display
from tests.machine_client.desktop.x11.somebody import pressed


@pytest.fixture(scope="module")
def injector(display: str) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(X11Desktop(display))
    yield injector
    injector.close()


@pytest.fixture(autouse=True)
def _nothing_stays_pressed(injector: DesktopInjector, display: str) -> Iterator[None]:
    injector.prepare(MoveMouse(x=640, y=400))()
    yield
    # Looked at before anything is released here: each test releases what it means to hold.
    assert pressed(display) == (set(), set())
    injector.release_all()


def perform(injector: DesktopInjector, body: AnyInput) -> Point:
    return injector.prepare(body)()


def told(witness: Witness) -> list[str]:
    return [str(event) for event in witness.take()]


def clicks(button: int, times: int) -> list[str]:
    return [f"ButtonPress {button}", f"ButtonRelease {button}"] * times


def test_displays_are_those_of_the_server(injector: DesktopInjector) -> None:
    assert injector.displays() == [Display(x=0, y=0, width=1280, height=800)]


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 799), (1279, 0), (1279, 799), (17, 42)])
def test_move_puts_the_pointer_exactly_there(
    injector: DesktopInjector, witness: Witness, x: int, y: int
) -> None:
    witness.take()
    assert perform(injector, MoveMouse(x=x, y=y)) == Point(x=x, y=y)
    assert [(event.kind, event.x, event.y) for event in witness.take()] == [("MotionNotify", x, y)]


@pytest.mark.parametrize(("button", "number"), [("left", 1), ("middle", 2), ("right", 3)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_click_presses_and_releases_as_often_as_asked(
    injector: DesktopInjector, witness: Witness, button: Any, number: int, count: int
) -> None:
    witness.take()
    perform(injector, ClickMouse(button=button, clicks=count))
    assert told(witness) == clicks(number, count)


def test_click_moves_first_where_a_place_is_given_and_zero_is_a_place(
    injector: DesktopInjector, witness: Witness
) -> None:
    witness.take()
    assert perform(injector, ClickMouse(x=0, y=0)) == Point(x=0, y=0)
    assert told(witness) == ["MotionNotify 0", *clicks(1, 1)]


def test_press_and_release_of_a_button_are_two_inputs_and_count_once(
    injector: DesktopInjector, witness: Witness
) -> None:
    witness.take()
    perform(injector, ClickMouse(button="right", down=True, clicks=3))
    assert told(witness) == ["ButtonPress 3"]
    perform(injector, ClickMouse(button="right", down=False, clicks=3))
    assert told(witness) == ["ButtonRelease 3"]
    injector.release_all()
    assert told(witness) == []


def test_release_all_releases_exactly_what_is_held(
    injector: DesktopInjector, witness: Witness
) -> None:
    perform(injector, ClickMouse(button="left", down=True))
    perform(injector, PressKeys(text="ctrl+a", down=True))
    witness.take()
    injector.release_all()
    assert told(witness) == ["ButtonRelease 1", "KeyRelease 38", "KeyRelease 37"]
    injector.release_all()
    assert told(witness) == []


@pytest.mark.parametrize(
    ("direction", "button"), [("up", 4), ("down", 5), ("left", 6), ("right", 7)]
)
def test_scroll_turns_the_wheel_one_notch_for_each_step(
    injector: DesktopInjector, witness: Witness, direction: Any, button: int
) -> None:
    witness.take()
    perform(injector, ScrollMouse(direction=direction, amount=3))
    assert told(witness) == clicks(button, 3)


def test_scroll_by_nothing_still_moves(injector: DesktopInjector, witness: Witness) -> None:
    witness.take()
    body = ScrollMouse(direction="up", amount=0, x=5, y=6)
    assert perform(injector, body) == Point(x=5, y=6)
    assert told(witness) == ["MotionNotify 0"]


@pytest.mark.parametrize("duration", [None, 0, 0.2])
@pytest.mark.parametrize(("button", "number"), [(None, 1), ("right", 3)])
def test_drag_travels_with_the_button_down_from_start_to_end(
    injector: DesktopInjector, witness: Witness, duration: float | None, button: Any, number: int
) -> None:
    witness.take()
    body = DragMouse(start_x=100, start_y=300, to_x=500, to_y=0, duration=duration, button=button)
    assert perform(injector, body) == Point(x=500, y=0)
    start, press, *travel, release = witness.take()
    assert (start.kind, start.x, start.y) == ("MotionNotify", 100, 300)
    assert (str(press), press.x, press.y) == (f"ButtonPress {number}", 100, 300)
    assert (str(release), release.x, release.y) == (f"ButtonRelease {number}", 500, 0)
    assert {event.kind for event in travel} == {"MotionNotify"}
    places = [(event.x, event.y) for event in travel]
    assert len(places) >= 3
    assert places == sorted(places, key=lambda place: place[0])
    assert all(abs((300 - y) * 400 - (x - 100) * 300) <= 400 for x, y in places)
    assert places[-1] == (500, 0)


def test_a_long_drag_can_be_interrupted_and_lets_go(
    injector: DesktopInjector, witness: Witness
) -> None:
    begin = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=1000, to_y=0, duration=60))
    witness.take()
    failures: list[InjectionFailed] = []

    def run() -> None:
        with pytest.raises(InjectionFailed) as caught:
            begin()
        failures.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: len(witness.seen()) > 5 or None, "the drag moves")
    injector.interrupt()
    thread.join(10)
    assert not thread.is_alive()
    events = witness.take()
    assert [event.kind for event in events].count("ButtonRelease") == 1
    assert str(events[-1]) == "ButtonRelease 1"
    assert failures[0].code == "interrupted"
    assert failures[0].injected_at_least == len(events)


def test_count_of_a_long_drag_grows_while_it_runs_and_is_never_ahead(
    injector: DesktopInjector, witness: Witness
) -> None:
    begin = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=1000, to_y=0, duration=60))
    witness.take()

    def run() -> None:
        with contextlib.suppress(InjectionFailed):
            begin()

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: injector.injected >= 5, "the count grows")
    counted = injector.injected
    eventually(lambda: len(witness.seen()) >= counted, "what is counted has happened")
    eventually(lambda: injector.injected >= counted + 10, "the count goes on growing")
    injector.interrupt()
    thread.join(10)
    assert injector.injected == len(witness.take())


@pytest.mark.parametrize(("body", "events"), [(MoveMouse(x=5, y=5), 1), (PressKeys(text="a"), 2)])
def test_count_is_the_last_inputs_own_from_its_preparation_on(
    injector: DesktopInjector, witness: Witness, body: AnyInput, events: int
) -> None:
    drag = DragMouse(start_x=1, start_y=1, to_x=50, to_y=50)
    for _ in range(2):
        witness.take()
        perform(injector, drag)
        assert injector.injected == len(witness.take())
    begin = injector.prepare(body)
    assert injector.injected == 0
    perform(injector, drag)
    begin()
    assert injector.injected == events


def test_after_an_interruption_nothing_begins_until_all_is_released(
    injector: DesktopInjector, witness: Witness
) -> None:
    begin = injector.prepare(MoveMouse(x=1, y=1))
    witness.take()
    injector.interrupt()
    with pytest.raises(InjectionFailed) as caught:
        begin()
    assert (caught.value.code, caught.value.injected_at_least) == ("interrupted", 0)
    assert told(witness) == []
    injector.release_all()
    assert perform(injector, MoveMouse(x=1, y=1)) == Point(x=1, y=1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (MoveMouse(x=1280, y=0), "x"),
        (MoveMouse(x=-1, y=0), "x"),
        (MoveMouse(x=0, y=800), "y"),
        (MoveMouse(x=0, y=-(2**31)), "y"),
        (ClickMouse(x=2**31 - 1, y=5), "x"),
        (ScrollMouse(direction="up", amount=1, x=3, y=800), "y"),
        (DragMouse(start_x=1280, start_y=0, to_x=0, to_y=0), "start_x"),
        (DragMouse(start_x=0, start_y=0, to_x=0, to_y=800), "to_y"),
    ],
)
def test_a_place_outside_the_displays_is_refused_before_any_event(
    injector: DesktopInjector, witness: Witness, body: AnyInput, field: str
) -> None:
    witness.take()
    with pytest.raises(Refusal) as caught:
        injector.prepare(body)
    outcome = caught.value.outcome
    assert outcome.code == "coordinates_outside_display"
    assert outcome.loc == ("body", field)
    assert outcome.ctx == {"displays": [{"x": 0, "y": 0, "width": 1280, "height": 800}]}
    assert "x 0 to 1279, y 0 to 799" in outcome.message
    assert told(witness) == []


def test_preparing_injects_nothing(injector: DesktopInjector, witness: Witness) -> None:
    witness.take()
    injector.prepare(PressKeys(text="ctrl+漢"))
    injector.prepare(ClickMouse(x=1, y=1))
    assert told(witness) == []


@pytest.mark.parametrize(("count", "selected"), [(2, "beta"), (3, "alpha beta gamma\n")])
def test_a_real_program_sees_double_and_triple_clicks(
    injector: DesktopInjector, display: str, tmp_path: Path, count: int, selected: str
) -> None:
    with Terminal.open(display, tmp_path, shown="alpha beta gamma") as terminal:
        x, y = terminal.place(column=7)
        perform(injector, ClickMouse(x=x, y=y, clicks=count))
        assert terminal.selected() == selected


def test_a_real_program_sees_a_drag(
    injector: DesktopInjector, display: str, tmp_path: Path
) -> None:
    with Terminal.open(display, tmp_path, shown="alpha beta gamma") as terminal:
        # From and to the left half of a cell: xterm selects from there on, and up to there.
        (start_x, y), (to_x, _) = terminal.place(column=6), terminal.place(column=10)
        perform(injector, DragMouse(start_x=start_x - 2, start_y=y, to_x=to_x - 2, to_y=y))
        assert terminal.selected() == "beta"


def test_importing_needs_no_display() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    subprocess.run(
        [sys.executable, "-c", "import machine_client.injector"],
        env=environment,
        cwd=Path(__file__).parents[2],
        check=True,
    )


@contextlib.contextmanager
def refused_connections() -> Iterator[None]:
    """python-xlib leaves the sockets of a connection that was refused to the collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.mark.parametrize("name", [":59999", "nonsense"])
def test_without_a_display_there_is_a_sentence_that_says_so(name: str) -> None:
    with refused_connections(), pytest.raises(InjectionUnavailable, match="X display"):
        DesktopInjector(X11Desktop(name))


def test_a_lost_display_fails_and_is_then_unavailable() -> None:
    with virtual_display() as first:
        injector = DesktopInjector(X11Desktop(first))
        begin = injector.prepare(MoveMouse(x=1, y=1))
    with pytest.raises(InjectionFailed) as failed:
        begin()
    assert (failed.value.code, failed.value.injected_at_least) == ("display_lost", 0)
    assert injector.is_lost
    with pytest.raises(InjectionUnavailable, match="The desktop is gone"):
        injector.prepare(MoveMouse(x=1, y=1))
    injector.release_all()
    injector.close()


class BreakingInput:
    """Carries out all but the events that it is told to fail at."""

    def __init__(self, breaks_at: int) -> None:
        self.done: list[str] = []
        self.confirmed = 0
        self._breaks_at = breaks_at
        self.released = None
        self._pressed = False

    def displays(self) -> list[Display]:
        return [Display(x=0, y=0, width=100, height=100)]

    def pointer(self) -> Point:
        return Point(x=0, y=0)

    def confirm(self) -> None: ...

    def close(self) -> None: ...

    def check_button(self, button: str) -> None: ...

    def move(self, x: int, y: int) -> None:
        self._act(f"move {x} {y}")

    def press(self, button: str) -> None:
        self._pressed = True
        self._act(f"press {button}")

    def release(self, button: str) -> None:
        if self._pressed:
            self._act(f"release {button}")

    def _act(self, what: str) -> None:
        if self.confirmed == self._breaks_at:
            self._breaks_at = -1
            raise DesktopError("display_error", "no")
        self.confirmed += 1
        self.done.append(what)


@pytest.mark.parametrize("breaks_at", range(4))
def test_a_drag_that_breaks_anywhere_lets_go_and_counts_what_arrived(breaks_at: int) -> None:
    opened = BreakingInput(breaks_at)
    desktop: Any = SimpleNamespace(open_input=lambda: opened)
    injector = DesktopInjector(desktop)
    begin = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=90, to_y=0))
    with pytest.raises(InjectionFailed) as caught:
        begin()
    assert caught.value.code == "display_error"
    assert caught.value.injected_at_least == len(opened.done)
    assert opened.done[-1:] == (["release left"] if breaks_at else [])
