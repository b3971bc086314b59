"""Contract: what is seen of a desktop agrees with what is done on it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from machine_client.desktop.base import DesktopView, Refusal
from machine_client.screen import resting
from machine_client.screen.capturer import take_picture
from machine_client.screen.resting import Resting
from machine_client.screen.watching import watch
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse, DragMouse, MoveMouse
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import Area, PictureWanted
from schemas.inputs.waits import Wait
from schemas.values.pictures import Region
from tests.machine_client.desktop.contract.inputs import (
    InjectingContract,
    interrupted_once,
    perform,
)
from tests.machine_client.desktop.contract.rig import Colour, Rig, pixel
from tests.pictures import decoded
from tests.waiting import eventually

RECTANGLE = Region(137, 211, 90, 60)
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


class ViewContract(InjectingContract):
    """Displays, pointer and pictures."""

    @pytest.fixture
    def view(self, rig: Rig) -> Iterator[DesktopView]:
        view = rig.desktop.open_view()
        yield view
        view.close()
        view.close()

    def test_input_and_view_tell_the_same_displays(self, rig: Rig, view: DesktopView) -> None:
        desktop = rig.desktop.open_input()
        assert desktop.displays() == desktop.look_at_displays() == view.displays() != []
        desktop.close()

    def test_pointer_is_told_where_it_is(
        self, rig: Rig, injector: DesktopInjector, view: DesktopView
    ) -> None:
        for x, y in ((0, 0), (321, 123), (17, 42)):
            assert perform(injector, MoveMouse(x=x, y=y)) == view.pointer() == Point(x=x, y=y)
            assert rig.witness.pointer() == (x, y)

    def test_picture_shows_all_displays(self, view: DesktopView) -> None:
        frame, displays = view.capture(), view.displays()
        assert frame.region == Region(
            min(each.x for each in displays),
            min(each.y for each in displays),
            max(each.x + each.width for each in displays) - min(each.x for each in displays),
            max(each.y + each.height for each in displays) - min(each.y for each in displays),
        )
        assert len(frame.pixels) == frame.size.width * frame.size.height * 4

    @pytest.mark.parametrize("colour", [RED, GREEN, BLUE])
    def test_painted_rectangle_is_seen_at_its_place_and_nowhere_else(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector, colour: Colour
    ) -> None:
        left, top, width, height = RECTANGLE
        right, bottom = left + width - 1, top + height - 1
        with rig.witness.painted(RECTANGLE, colour):
            eventually(
                lambda: pixel(view.capture(), left + 9, top + 9) == colour or None,
                "the rectangle is in the picture",
            )
            frame = view.capture()
            corners = [(x, y) for x in (left, right) for y in (top, bottom)]
            assert {pixel(frame, x, y) for x, y in corners} == {colour}
            outside = [
                *((x, y) for x in (left - 1, right + 1) for y in (top, bottom)),
                *((x, y) for x in (left, right) for y in (top - 1, bottom + 1)),
            ]
            assert colour not in {pixel(frame, x, y) for x, y in outside}

    def test_picture_stays_as_it_is_while_nothing_changes_and_no_longer(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        first = view.capture()
        assert view.capture().looks_like(first)
        assert view.capture().captured_at >= first.captured_at
        with rig.witness.painted(RECTANGLE, RED):
            eventually(lambda: not view.capture().looks_like(first), "a change is seen")

    def test_change_is_waited_for_and_the_pointer_is_none(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        perform(injector, MoveMouse(x=10, y=10))
        changed = Wait.model_validate({"any": [{"still": 0.3}, {"changed": True}]}).any
        began = view.capture(pointer=False)
        perform(injector, MoveMouse(x=300, y=200))
        still = watch(view, changed, 20, before=began, is_over=lambda: False)
        assert (still.matched, still.at) == (0, None)
        with rig.witness.painted(RECTANGLE, RED):
            seen = watch(view, changed[1:], 20, before=began, is_over=lambda: False)
            assert seen.matched == 0
            assert seen.at == pytest.approx(RECTANGLE, abs=1)

    def test_screen_that_is_said_to_rest_shows_nothing_new(
        self,
        rig: Rig,
        view: DesktopView,
        injector: DesktopInjector,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(resting, "SURE_SECONDS", 3600)
        rests, place = Resting(view), iter(((300, 200), (10, 10)))

        def comes_to_rest() -> None:
            # A desktop that does not tell never rests.
            for _ in range(20):
                if rests.is_as_before():
                    return
                view.capture()
                rests.looked()

        def moves() -> None:
            x, y = next(place)
            perform(injector, MoveMouse(x=x, y=y))

        moves()
        for _ in range(2):
            comes_to_rest()
            with rig.witness.painted(RECTANGLE, RED):
                eventually(lambda: not rests.is_as_before() or None, "it is told")
                view.capture()
                rests.looked()
            # What is drawn right behind a look is told as well.
            eventually(lambda: not rests.is_as_before() or None, "it is told")
        comes_to_rest()
        moves()
        eventually(lambda: not rests.is_as_before() or None, "the pointer's place is told")

    def test_wait_that_began_before_it_sees_what_is_drawn(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        changed = Wait.model_validate({"any": [{"changed": True}]}).any
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(watch, view, changed, 30, is_over=lambda: False)
            while not waiting.done():
                with rig.witness.painted(RECTANGLE, BLUE):
                    wait((waiting,), timeout=1)
                wait((waiting,), timeout=1)
        # A screen that shows several pixels for each of the desktop's may round them.
        assert waiting.result().at == pytest.approx(RECTANGLE, abs=1)

    def test_picture_can_do_without_the_pointer(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        left, top, width, height = RECTANGLE
        x, y = left + width // 2, top + height // 2
        with rig.witness.painted(RECTANGLE, GREEN):
            eventually(lambda: pixel(view.capture(), x, y) == GREEN or None, "it is painted")
            perform(injector, MoveMouse(x=x, y=y))
            frame = view.capture(pointer=False)
            near = [(x + across, y + down) for across in range(-8, 9) for down in range(-8, 9)]
            is_left_out = {pixel(frame, *place) for place in near} == {GREEN}
            assert is_left_out or frame.pointer_at == Point(x=x, y=y)

    def test_region_is_a_picture_of_its_own(self, rig: Rig, view: DesktopView) -> None:
        left, top, width, height = RECTANGLE
        around = Area(x=left - 30, y=top - 20, width=width + 60, height=height + 40)
        with rig.witness.painted(RECTANGLE, BLUE):
            eventually(lambda: pixel(view.capture(), left, top) == BLUE or None, "it is painted")
            taken, again = (take_picture(view, PictureWanted(region=around)) for _ in range(2))
        assert taken.region == tuple(around.model_dump().values())
        # Equal pixels are equal bytes: by these it is told whether anything has changed.
        assert taken.content == again.content
        image = decoded(taken.content)
        assert image.size == taken.size

        def colour(x: int, y: int) -> Any:
            return image.getpixel(
                (x * image.width // around.width, y * image.height // around.height)
            )

        # The pointer may be in its middle.
        assert [colour(x, y) for x in (35, 115) for y in (25, 75)] == [BLUE] * 4
        assert BLUE not in [colour(*place) for place in ((25, 50), (125, 50), (75, 15), (75, 85))]

    def test_each_display_is_a_picture_of_its_own(self, view: DesktopView) -> None:
        whole, displays = view.capture(), view.displays()
        for number, display in enumerate(displays):
            taken = take_picture(view, PictureWanted(display=number, format="webp"))
            assert taken.region == (display.x, display.y, display.width, display.height)
            assert taken.size == pytest.approx(
                (
                    display.width * whole.size.width / whole.region.width,
                    display.height * whole.size.height / whole.region.height,
                ),
                abs=1,
            )
            assert decoded(taken.content).size == taken.size
        with pytest.raises(Refusal, match=f"the desktop has {len(displays)}"):
            take_picture(view, PictureWanted(display=len(displays)))

    def test_pointer_is_in_the_picture_where_inputs_put_it(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        left, top, width, height = RECTANGLE
        x, y = left + width // 2, top + height // 2
        with rig.witness.painted(RECTANGLE, GREEN):
            eventually(lambda: pixel(view.capture(), x, y) == GREEN or None, "it is painted")
            perform(injector, MoveMouse(x=x, y=y))
            near = [(x + across, y + down) for across in range(-8, 9) for down in range(-8, 9)]

            def has_pointer() -> bool:
                frame = view.capture()
                return {pixel(frame, *place) for place in near} != {GREEN}

            eventually(has_pointer, "the pointer is in the picture")

    def test_looks_neither_disturb_a_drag_nor_wait_for_it(
        self, rig: Rig, view: DesktopView, injector: DesktopInjector
    ) -> None:
        places = {view.pointer()}
        begin = injector.prepare(DragMouse(start_x=0, start_y=0, to_x=400, to_y=0, duration=60))

        def looks() -> bool:
            view.capture()
            view.displays()
            places.add(view.pointer())
            return len(places) > 3

        failure = interrupted_once(injector, begin, looks)
        assert failure.injected_at_least == len(rig.witness.take())
        injector.release_all()

    def test_checks_are_good_and_change_nothing(self, rig: Rig, injector: DesktopInjector) -> None:
        perform(injector, ClickMouse(down=True))
        held = rig.witness.held()
        rig.witness.take()
        parts = []
        for check in rig.desktop.checks():
            assert check.look()
            assert check.if_silent
            parts.append(check.part)
        assert parts == ["display", "input", "screen"]
        assert rig.witness.held() == held
        assert rig.witness.take() == []
