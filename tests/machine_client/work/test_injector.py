"""What an injector does to a real X server, as a witness there sees it."""

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from machine_client.desktop.base import DesktopError, key_refused
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.work import injector as injector_module
from machine_client.work.injector import (
    DesktopInjector,
    InjectionFailed,
    InjectionUnavailable,
    Refusal,
)
from schemas.inputs.bodies import (
    BUTTONS,
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    PressKeys,
    ScrollMouse,
)
from schemas.inputs.key_combinations import Chord, Key
from schemas.inputs.outcomes import Point
from schemas.inputs.places import PathPoint
from schemas.link.messages import Display
from tests.desktop import Terminal, Witness
from tests.machine_client.desktop.contract.inputs import perform
from tests.machine_client.desktop.x11.rig import refused_connections
from tests.machine_client.desktop.x11.somebody import pressed
from tests.machine_client.desktop.x11.typed import told
from tests.waiting import eventually


@pytest.fixture(scope="module")
def injector(display: str) -> Iterator[DesktopInjector]:
    with contextlib.closing(DesktopInjector(X11Desktop(display))) as injector:
        yield injector


@pytest.fixture(autouse=True)
def _nothing_stays_pressed(injector: DesktopInjector, display: str) -> Iterator[None]:
    injector.prepare(MoveMouse(x=640, y=400))()
    yield
    # Looked at before anything is released here: each test releases what it means to hold.
    assert pressed(display) == (set(), set())
    injector.release_all()


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


def test_button_goes_up_where_the_pointer_is_without_a_move(
    injector: DesktopInjector, witness: Witness
) -> None:
    # A move to where it is already is a drag for some programs.
    for down in (True, False):
        perform(injector, ClickMouse(x=30, y=40, down=down))
    assert [event.kind for event in witness.take()] == [
        *("MotionNotify", "ButtonPress", "ButtonRelease"),
    ]
    perform(injector, ClickMouse(x=30, y=40, down=True))
    perform(injector, ClickMouse(x=31, y=40, down=False))
    assert [event.kind for event in witness.take()][-2:] == ["MotionNotify", "ButtonRelease"]
    perform(injector, DragMouse(start_x=30, start_y=40, to_x=30, to_y=40, duration=0.1))
    assert [event.kind for event in witness.take()] == [
        *("MotionNotify", "ButtonPress", "ButtonRelease"),
    ]


CORNERS = tuple(PathPoint(x=x, y=y) for x, y in ((10, 10), (90, 10), (90, 90)))


def test_move_passes_every_point_of_its_path(injector: DesktopInjector, witness: Witness) -> None:
    assert perform(injector, MoveMouse(x=10, y=90, path=CORNERS)) == Point(x=10, y=90)
    passed = [(event.x, event.y) for event in witness.take()]
    assert passed == [(10, 10), (90, 10), (90, 90), (10, 90)]
    assert injector.injected == 4


def test_path_ends_where_it_is_interrupted(
    injector: DesktopInjector, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = injector._input.move

    def move_and_be_interrupted(x: int, y: int) -> None:
        move(x, y)
        injector.interrupt()

    monkeypatch.setattr(injector._input, "move", move_and_be_interrupted)
    with pytest.raises(InjectionFailed) as failed:
        perform(injector, MoveMouse(x=10, y=90, path=CORNERS))
    assert (failed.value.code, failed.value.injected_at_least) == ("interrupted", 1)
    assert [(event.x, event.y) for event in witness.take()] == [(10, 10)]


def test_path_that_leaves_the_displays_is_refused_whole(
    injector: DesktopInjector, witness: Witness
) -> None:
    astray = MoveMouse(x=1, y=1, path=(*CORNERS, PathPoint(x=5, y=800)))
    with pytest.raises(Refusal) as refused:
        injector.prepare(astray)
    assert refused.value.outcome.loc == ("body", "path", "3", "y")
    assert witness.take() == []


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


@pytest.mark.parametrize(("count", "selected"), [(2, "beta"), (3, "alpha beta gamma\n")])
def test_a_real_program_sees_double_and_triple_clicks(
    injector: DesktopInjector, display: str, tmp_path: Path, count: int, selected: str
) -> None:
    with Terminal.open(display, tmp_path, shown="alpha beta gamma") as terminal:
        x, y = terminal.place(column=7)
        perform(injector, ClickMouse(x=x, y=y, clicks=count))
        eventually(lambda: terminal.selected() == selected, f"{selected!r} is selected")


def test_a_real_program_sees_a_drag(
    injector: DesktopInjector, display: str, tmp_path: Path
) -> None:
    with Terminal.open(display, tmp_path, shown="alpha beta gamma") as terminal:
        # From and to the left half of a cell: xterm selects from there on, and up to there.
        (start_x, y), (to_x, _) = terminal.place(column=6), terminal.place(column=10)
        perform(injector, DragMouse(start_x=start_x - 2, start_y=y, to_x=to_x - 2, to_y=y))
        eventually(lambda: terminal.selected() == "beta", "the word is selected")


@pytest.mark.parametrize("name", [":59999", "nonsense"])
def test_without_a_display_there_is_a_sentence_that_says_so(name: str) -> None:
    with refused_connections(), pytest.raises(InjectionUnavailable, match="X display"):
        DesktopInjector(X11Desktop(name))


class BreakingInput:
    """Carries out all but the events that it is told to fail at."""

    buttons = BUTTONS

    def __init__(self, breaks_at: int) -> None:
        self.done: list[str] = []
        self.confirmed = 0
        self._breaks_at = breaks_at
        self.released = None
        self._pressed = False
        self._keys: tuple[Key, ...] = ()

    def displays(self) -> list[Display]:
        return [Display(x=0, y=0, width=100, height=100)]

    def pointer(self) -> Point:
        return Point(x=0, y=0)

    def confirm(self) -> None: ...

    def close(self) -> None: ...

    def check_button(self, button: str) -> None: ...

    def check_wheel(self, direction: str) -> None: ...

    def check_keys(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        assert hold

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        self._act(f"hold {len(keys)}")
        self._keys = keys
        return keys

    def hold_keys(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        return self.press_modifiers(chords[0].keys)

    def release_keys(self, chords: tuple[Chord, ...]) -> None:
        assert chords[0].keys == self._keys
        self._act(f"let go of {len(self._keys)}")

    def scroll(self, direction: str) -> None:
        self._act(f"scroll {direction}")

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


MODIFIED: dict[str, Any] = {"modifiers": ("ctrl", "alt")}


@pytest.mark.parametrize(
    "body",
    [
        ClickMouse(x=1, y=2, clicks=2, **MODIFIED),
        ScrollMouse(x=1, y=2, direction="up", amount=2, **MODIFIED),
        MoveMouse(x=1, y=2, path=CORNERS, **MODIFIED),
        DragMouse(start_x=0, start_y=0, to_x=90, to_y=0, **MODIFIED),
        PressKeys(text="ctrl+x", hold=0.001, repeat=2),
    ],
)
def test_gesture_that_breaks_anywhere_lets_go_of_its_keys_last(
    body: AnyInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each move of a drag is late, and so the same ones are skipped each time.
    monkeypatch.setattr(injector_module, "_QUICK_DRAG_SECONDS", 1e-9)
    whole = BreakingInput(-1)
    desktop: Any = SimpleNamespace(open_input=lambda: whole)
    DesktopInjector(desktop).prepare(body)()
    assert (whole.done[0], whole.done[-1]) == ("hold 2", "let go of 2")
    for breaks_at, event in enumerate(whole.done):
        if event.startswith("let go"):
            continue
        broken = BreakingInput(breaks_at)
        desktop.open_input = lambda broken=broken: broken
        with pytest.raises(InjectionFailed):
            DesktopInjector(desktop).prepare(body)()
        held = broken.done.count("hold 2")
        assert broken.done.count("let go of 2") == held, breaks_at
        assert broken.done[-1:] == (["let go of 2"] if held else [])


def test_path_of_a_drag_ends_where_it_is_interrupted() -> None:
    opened = BreakingInput(-1)
    desktop: Any = SimpleNamespace(open_input=lambda: opened)
    injector = DesktopInjector(desktop)
    move = opened.move

    def move_and_be_interrupted(x: int, y: int) -> None:
        move(x, y)
        if (x, y) == (90, 10):
            injector.interrupt()

    opened.move = move_and_be_interrupted  # type: ignore[method-assign]
    with pytest.raises(InjectionFailed) as failed:
        perform(injector, DragMouse(start_x=0, start_y=0, to_x=0, to_y=0, path=CORNERS))
    assert failed.value.code == "interrupted"
    assert opened.done[-2:] == ["move 90 10", "release left"]


@pytest.mark.parametrize("duration", [None, 1.0])
def test_no_point_is_left_out_on_a_clock_that_jumps(
    monkeypatch: pytest.MonkeyPatch, duration: float | None
) -> None:
    ticks = itertools.count(0, 10)
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    monkeypatch.setattr(injector_module, "time", clock)
    opened = BreakingInput(-1)
    desktop: Any = SimpleNamespace(open_input=lambda: opened)
    path = tuple(PathPoint(x=x, y=x % 7) for x in range(1, 90))
    body = DragMouse(start_x=0, start_y=0, to_x=90, to_y=0, path=path, duration=duration)
    DesktopInjector(desktop).prepare(body)()
    travel = [what for what in opened.done if what.startswith("move")]
    expected = iter(travel)
    assert all(f"move {point.x} {point.y}" in expected for point in path)


def test_modifier_that_the_keyboard_lacks_is_refused_at_its_place(
    injector: DesktopInjector, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = injector._input.check_keys

    def lacks_alt(chords: tuple[Chord, ...], *, hold: bool) -> None:
        if any(key.name == "alt" for chord in chords for key in chord.keys):
            raise key_refused(chords[0].keys[0], "key_not_typeable", "no alt")
        check(chords, hold=hold)

    monkeypatch.setattr(injector._input, "check_keys", lacks_alt)
    with pytest.raises(Refusal) as refused:
        injector.prepare(ClickMouse(x=1, y=1, modifiers=("ctrl", "alt")))
    assert refused.value.outcome.loc == ("body", "modifiers", "1")
    assert refused.value.outcome.code == "key_not_typeable"
    assert witness.take() == []


@pytest.mark.parametrize(
    ("path", "field"), [(((10, 10), (5, 800)), "y"), (((10, 10), (1280, 0)), "x")]
)
def test_drag_whose_path_leaves_the_displays_is_refused_whole(
    injector: DesktopInjector, witness: Witness, path: tuple[tuple[int, int], ...], field: str
) -> None:
    points = tuple(PathPoint(x=x, y=y) for x, y in path)
    with pytest.raises(Refusal) as refused:
        injector.prepare(DragMouse(start_x=0, start_y=0, to_x=1, to_y=1, path=points))
    assert refused.value.outcome.loc == ("body", "path", "1", field)
    assert witness.take() == []


@pytest.mark.parametrize("duration", [None, 1.0])
def test_drag_on_a_clock_that_jumps_past_its_end_still_travels(
    monkeypatch: pytest.MonkeyPatch, duration: float | None
) -> None:
    ticks = itertools.count(0, 10)
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    monkeypatch.setattr(injector_module, "time", clock)
    opened = BreakingInput(-1)
    desktop: Any = SimpleNamespace(open_input=lambda: opened)
    body = DragMouse(start_x=0, start_y=0, to_x=80, to_y=0, duration=duration)
    DesktopInjector(desktop).prepare(body)()
    travel = [what for what in opened.done if what.startswith("move")]
    assert travel == [f"move {x} 0" for x in (0, 20, 40, 60, 80)]


def test_time_of_a_drag_begins_once_the_desktop_has_taken_its_press() -> None:
    opened = BreakingInput(-1)
    taken_at: list[float] = []

    def confirm_late() -> None:
        if opened._pressed and not taken_at:
            time.sleep(0.2)
            taken_at.append(time.monotonic())

    opened.confirm = confirm_late  # type: ignore[method-assign]
    desktop: Any = SimpleNamespace(open_input=lambda: opened)
    DesktopInjector(desktop).prepare(
        DragMouse(start_x=0, start_y=0, to_x=9, to_y=0, duration=0.3)
    )()
    assert time.monotonic() - taken_at[0] >= 0.3
