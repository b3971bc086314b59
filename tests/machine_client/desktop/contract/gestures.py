"""Contract: modifiers, paths, holds, repetitions, side buttons, and places in a picture."""

from typing import Any

import pytest

from machine_client.work.injector import DesktopInjector, Refusal
from schemas.inputs.bodies import (
    AnyInput,
    ClickMouse,
    DragMouse,
    MoveMouse,
    PressKeys,
    ScrollMouse,
)
from schemas.inputs.outcomes import Point
from schemas.inputs.places import PathPoint
from schemas.link.messages import Released
from tests.machine_client.desktop.contract.inputs import (
    InjectingContract,
    interrupted_once,
    perform,
    place_of,
)
from tests.machine_client.desktop.contract.rig import Rig, saw, strokes

HELD: dict[str, Any] = {"modifiers": ("ctrl", "shift")}
CORNERS = tuple(PathPoint(x=x, y=y) for x, y in ((10, 10), (90, 10), (90, 90), (20, 30)))
PASSED = [(point.x, point.y) for point in CORNERS]

GESTURES = [
    (ClickMouse(x=30, y=40, clicks=2, **HELD), ["move", *["down left", "up left"] * 2]),
    (ScrollMouse(x=30, y=40, direction="down", amount=2, **HELD), ["move", *["wheel down"] * 2]),
    (MoveMouse(x=30, y=40, path=CORNERS, **HELD), ["move"] * 5),
]


class GestureContract(InjectingContract):
    """What several inputs would do less well."""

    @pytest.mark.parametrize(("body", "expected"), GESTURES)
    def test_modifiers_go_down_before_the_first_event_and_up_after_the_last(
        self, rig: Rig, injector: DesktopInjector, body: AnyInput, expected: list[str]
    ) -> None:
        perform(injector, body)
        saw(rig.witness.take(), "down ctrl", "down shift", *expected, "up shift", "up ctrl")

    def test_drag_has_its_modifiers_all_the_way(self, rig: Rig, injector: DesktopInjector) -> None:
        perform(injector, DragMouse(start_x=1, start_y=2, to_x=90, to_y=80, **HELD))
        events = rig.witness.take()
        saw(events[:2], "down ctrl", "down shift")
        saw(events[-3:], "up left", "up shift", "up ctrl")
        assert injector.injected == len(events)

    def test_modifier_that_we_hold_already_stays_held(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="ctrl", down=True))
        rig.witness.take()
        perform(injector, ClickMouse(**HELD))
        saw(rig.witness.take(), "down shift", "down left", "up left", "up shift")
        perform(injector, ClickMouse(modifiers=("ctrl",)))
        saw(rig.witness.take(), "down left", "up left")
        assert len(rig.witness.held()) == 1
        perform(injector, PressKeys(text="ctrl", down=False))
        saw(rig.witness.take(), "up ctrl")

    def test_modifiers_go_up_where_a_gesture_is_interrupted(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        drag = DragMouse(start_x=0, start_y=0, to_x=400, to_y=0, duration=60, **HELD)
        begin = injector.prepare(drag)
        failure = interrupted_once(injector, begin, lambda: len(rig.witness.seen()) > 7)
        events = rig.witness.take()
        saw(events[-3:], "up left", "up shift", "up ctrl")
        assert rig.witness.held() == frozenset()
        assert failure.code == "interrupted"
        assert failure.injected_at_least == len(events)
        injector.release_all()

    def test_button_that_is_pressed_with_a_modifier_stays_alone(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, ClickMouse(down=True, **HELD))
        assert rig.witness.held() == {"left"}
        rig.witness.take()
        perform(injector, ClickMouse(down=False, **HELD))
        saw(rig.witness.take(), *("down ctrl", "down shift", "up left", "up shift", "up ctrl"))

    # Long enough for a busy display to be a moment late with the press.
    @pytest.mark.parametrize("duration", [None, 0.8])
    def test_drag_passes_every_point_of_its_path_in_order(
        self, rig: Rig, injector: DesktopInjector, duration: float | None
    ) -> None:
        body = DragMouse(
            start_x=100, start_y=300, to_x=500, to_y=0, duration=duration, path=CORNERS
        )
        assert perform(injector, body) == Point(x=500, y=0)
        events = rig.witness.take()
        saw(events, "move", "down left", *["move"] * (len(events) - 3), "up left")
        start, press, *travel, release = events
        places = [place_of(event) for event in travel]
        assert place_of(start) == place_of(press) == (100, 300)
        assert [place for place in places if place in PASSED] == PASSED
        assert places[-1] == place_of(release) == (500, 0)
        assert release.at - press.at >= 0.9 * (duration or 0)
        assert injector.injected == len(events)

    def test_keys_are_held_together_for_their_time_as_often_as_asked(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="ctrl+x", hold=0.2, repeat=2))
        events = rig.witness.take()
        saw(events, *("down ctrl", "down x", "up x", "up ctrl") * 2)
        for down, up in ((1, 2), (5, 6)):
            assert events[up].at - events[down].at >= 0.9 * 0.2
        assert injector.injected == len(events)

    def test_what_we_held_before_a_hold_stays_held(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        perform(injector, PressKeys(text="ctrl", down=True))
        rig.witness.take()
        perform(injector, PressKeys(text="ctrl+x", hold=0.01))
        saw(rig.witness.take(), "down x", "up x")
        perform(injector, PressKeys(text="ctrl", down=False))
        saw(rig.witness.take(), "up ctrl")

    def test_combination_is_repeated_as_a_whole(self, rig: Rig, injector: DesktopInjector) -> None:
        perform(injector, PressKeys(text="ctrl+x home", repeat=3))
        keys = ("down ctrl", "down x", "up x", "up ctrl", "down home", "up home")
        saw(rig.witness.take(), *keys * 3)

    def test_hold_can_be_interrupted_and_leaves_nothing_pressed(
        self, rig: Rig, injector: DesktopInjector
    ) -> None:
        begin = injector.prepare(PressKeys(text="ctrl+x", hold=30, repeat=2))
        failure = interrupted_once(injector, begin, lambda: len(rig.witness.held()) == 2)
        saw(rig.witness.take()[-2:], "up x", "up ctrl")
        assert rig.witness.held() == frozenset()
        assert (failure.code, failure.injected_at_least) == ("interrupted", 4)
        injector.release_all()

    @pytest.mark.parametrize("button", ["back", "forward"])
    def test_side_button_is_itself_or_refused_before_any_event(
        self, rig: Rig, injector: DesktopInjector, button: Any
    ) -> None:
        body = ClickMouse(x=30, y=40, button=button, clicks=2)
        if button in rig.buttons:
            perform(injector, body)
            saw(rig.witness.take(), "move", *[f"down {button}", f"up {button}"] * 2)
            perform(injector, DragMouse(start_x=1, start_y=2, to_x=3, to_y=4, button=button))
            assert strokes(rig.witness.take()) == [f"down {button}", f"up {button}"]
            return
        for refused in (body, DragMouse(start_x=1, start_y=2, to_x=3, to_y=4, button=button)):
            with pytest.raises(Refusal, match=f"The {button} button .* left, middle, right") as e:
                perform(injector, refused)
            assert e.value.outcome.code == "button_unavailable"
            assert e.value.outcome.loc == ("body", "button")
        assert rig.witness.take() == []

    def test_side_button_that_a_killed_client_left_pressed_is_released(self, rig: Rig) -> None:
        if "forward" not in rig.buttons:
            return
        rig.leave_held(
            ClickMouse(button="back", down=True), ClickMouse(button="forward", down=True)
        )
        assert rig.witness.held() == {"back", "forward"}
        injector = DesktopInjector(rig.desktop)
        assert injector.take_released() == Released(buttons=["back", "forward"], keys=0)
        assert rig.witness.held() == frozenset()
        injector.close()

    @pytest.mark.parametrize("smaller", [1, 2, 3])
    def test_places_of_a_picture_are_put_where_it_shows_them(
        self, rig: Rig, injector: DesktopInjector, smaller: int
    ) -> None:
        displays = rig.desktop.open_view().displays()
        left, top = min(each.x for each in displays), min(each.y for each in displays)
        width = max(each.x + each.width for each in displays) - left
        height = max(each.y + each.height for each in displays) - top
        size = {"width": width // smaller, "height": height // smaller}
        wanted = displays[-1]
        x = (wanted.x + wanted.width // 2 - left) * size["width"] // width
        y = (wanted.y + wanted.height // 2 - top) * size["height"] // height
        place = Point(
            x=left + int((x + 0.5) * width / size["width"]),
            y=top + int((y + 0.5) * height / size["height"]),
        )
        assert perform(injector, ClickMouse.model_validate({"x": x, "y": y, "in": size})) == place
        moved, *_ = rig.witness.take()
        assert place_of(moved) == (place.x, place.y)
        path = [{"x": x, "y": y}, {"x": x, "y": y - 1}]
        body = {"x": x - 1, "y": y, "path": path, "in": size}
        perform(injector, MoveMouse.model_validate(body))
        assert place_of(rig.witness.take()[-2])[0] == place.x
