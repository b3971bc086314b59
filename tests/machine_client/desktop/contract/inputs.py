"""Contract: every operation of the mouse, as it reaches the desktop's far side."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from machine_client.work.injector import DesktopInjector, InjectionFailed, Refusal
from schemas.inputs.bodies import AnyInput, ClickMouse, DragMouse, MoveMouse, ScrollMouse
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from tests.machine_client.desktop.contract.rig import Rig, Seen, saw
from tests.waiting import eventually

CLICK = ClickMouse(x=30, y=40)
DRAG = DragMouse(start_x=1, start_y=2, to_x=90, to_y=80)


def perform(injector: DesktopInjector, body: AnyInput) -> Point:
    """Carry an input out."""
    return injector.prepare(body)()


def place_of(event: Seen) -> tuple[int, int]:
    return event.x, event.y


def interrupted_once(
    injector: DesktopInjector, begin: Callable[[], Any], runs: Callable[[], Any]
) -> InjectionFailed:
    """Begin an input in a thread, interrupt it once it runs, and return its failure."""
    failures: list[InjectionFailed] = []

    def run() -> None:
        with pytest.raises(InjectionFailed) as caught:
            begin()
        failures.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    eventually(lambda: runs() or None, "the input runs")
    injector.interrupt()
    thread.join(10)
    assert not thread.is_alive()
    return failures[0]


class InjectingContract:
    """What all parts of the contract share that inject."""

    @pytest.fixture
    def injector(self, rig: Rig) -> Iterator[DesktopInjector]:
        """One whose pointer is at (500, 300), and that must leave nothing pressed."""
        injector = DesktopInjector(rig.desktop)
        perform(injector, MoveMouse(x=500, y=300))
        rig.witness.take()
        yield injector
        injector.close()
        assert rig.witness.held() == frozenset()

    @pytest.fixture
    def last(self, rig: Rig) -> Display:
        """The last display, whose far corner is its (width - 1, height - 1)."""
        return rig.desktop.open_view().displays()[-1]


class MouseContract(InjectingContract):
    """HandoverWait, clicks, scrolls and drags."""

    def test_move_puts_the_pointer_exactly_there(
        self, rig: Rig, injector: DesktopInjector, last: Display
    ) -> None:
        right, bottom = last.x + last.width - 1, last.y + last.height - 1
        for x, y in (
            (last.x, last.y),
            (right, last.y),
            (last.x, bottom),
            (right, bottom),
            (17, 42),
        ):
            assert perform(injector, MoveMouse(x=x, y=y)) == Point(x=x, y=y)
            assert rig.witness.pointer() == (x, y)
            (moved,) = rig.witness.take()
            assert (moved.action, moved.x, moved.y) == ("move", x, y)

    @pytest.mark.parametrize("button", ["left", "middle", "right"])
    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_click_presses_and_releases_as_often_as_asked(
        self, rig: Rig, injector: DesktopInjector, button: Any, count: int
    ) -> None:
        perform(injector, ClickMouse(button=button, clicks=count))
        saw(rig.witness.take(), *[f"down {button}", f"up {button}"] * count)

    def test_click_moves_first_where_a_place_is_given_and_zero_is_a_place(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        assert perform(injector, ClickMouse(x=0, y=0)) == Point(x=0, y=0)
        events = rig.witness.take()
        saw(events, "move", "down left", "up left")
        assert {place_of(event) for event in events} == {(0, 0)}

    @pytest.mark.parametrize("direction", ["up", "down", "left", "right"])
    def test_scroll_turns_the_wheel_one_notch_for_each_step(
        self, rig: Rig, injector: DesktopInjector, direction: Any
    ) -> None:
        for amount in (1, 3):
            perform(injector, ScrollMouse(direction=direction, amount=amount, x=5, y=6))
            saw(rig.witness.take(), "move", *[f"wheel {direction}"] * amount)
            perform(injector, MoveMouse(x=9, y=9))
            rig.witness.take()

    def test_scroll_by_nothing_still_moves(self, rig: Rig, injector: DesktopInjector) -> None:
        body = ScrollMouse(direction="up", amount=0, x=5, y=6)
        assert perform(injector, body) == Point(x=5, y=6)
        saw(rig.witness.take(), "move")

    @pytest.mark.parametrize("duration", [None, 0, 0.3])
    @pytest.mark.parametrize("button", [None, "right"])
    def test_drag_travels_with_the_button_down_from_start_to_end(
        self, rig: Rig, injector: DesktopInjector, duration: float | None, button: Any
    ) -> None:
        body = DragMouse(
            start_x=100, start_y=300, to_x=500, to_y=0, duration=duration, button=button
        )
        assert perform(injector, body) == Point(x=500, y=0)
        events = rig.witness.take()
        name = button or "left"
        saw(events, "move", f"down {name}", *["move"] * (len(events) - 3), f"up {name}")
        start, press, *travel, release = events
        assert place_of(start) == place_of(press) == (100, 300)
        places = [place_of(event) for event in travel]
        assert places == sorted(places, key=lambda place: place[0])
        assert all(abs((300 - y) * 400 - (x - 100) * 300) <= 400 for x, y in places)
        assert places[-1] == place_of(release) == (500, 0)
        assert len(set(places)) >= 3
        assert release.at - press.at >= 0.9 * (duration or 0)

    def test_a_long_drag_can_be_interrupted_and_lets_go(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        begin = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=400, to_y=0, duration=60))
        failure = interrupted_once(injector, begin, lambda: len(rig.witness.seen()) > 5)
        events = rig.witness.take()
        saw(events[-1:], "up left")
        assert [event.action for event in events].count("up") == 1
        assert failure.code == "interrupted"
        assert failure.injected_at_least == len(events)
        injector.release_all()

    @pytest.mark.parametrize("fields", [{"x": 1, "y": 0}, {"x": 0, "y": 1}, {"x": -1, "y": 0}])
    def test_a_place_beyond_the_displays_is_refused_before_any_event(
        self, rig: Rig, injector: DesktopInjector, fields: dict[str, int]
    ) -> None:
        displays = rig.desktop.open_view().displays()
        beyond_x = max(each.x + each.width for each in displays)
        beyond_y = max(each.y + each.height for each in displays)
        left = min(each.x for each in displays)
        x = {1: beyond_x, 0: displays[0].x, -1: left - 1}[fields["x"]]
        y = {1: beyond_y, 0: displays[0].y}[fields["y"]]
        for body in (MoveMouse(x=x, y=y), ClickMouse(x=x, y=y)):
            with pytest.raises(Refusal) as caught:
                injector.prepare(body)
            assert caught.value.outcome.code == "coordinates_outside_display"
            assert caught.value.outcome.loc == ("body", "y" if fields["y"] else "x")
        assert rig.witness.take() == []

    def test_preparing_injects_nothing(self, rig: Rig, injector: DesktopInjector) -> None:
        injector.prepare(CLICK)
        injector.prepare(DRAG)
        assert rig.witness.take() == []

    @pytest.mark.parametrize("body", [CLICK, DRAG, MoveMouse(x=1, y=1)])
    def test_what_is_counted_is_what_arrived(
        self, rig: Rig, injector: DesktopInjector, body: AnyInput
    ) -> None:
        for _ in range(2):
            perform(injector, MoveMouse(x=60, y=60))
            rig.witness.take()
            perform(injector, body)
            assert injector.injected == len(rig.witness.take())
