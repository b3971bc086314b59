"""Every corner of every screen is reached, also left of the first one, where there are several.

``make test-windows`` runs this on a session with one screen, and on one with two.
"""

from collections.abc import Iterator

import pytest

from machine_client.work.injector import DesktopInjector, Refusal
from schemas.inputs.bodies import ClickMouse, DragMouse, MoveMouse
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Region
from tests.machine_client.desktop.contract.inputs import perform
from tests.machine_client.desktop.contract.rig import Rig, pixel, saw
from tests.machine_client.desktop.windows.rig import windows_rig
from tests.waiting import eventually

GREEN = (0, 200, 0)


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with windows_rig() as rig:
        yield rig


@pytest.fixture
def injector(rig: Rig) -> Iterator[DesktopInjector]:
    injector = DesktopInjector(rig.desktop)
    perform(injector, MoveMouse(x=500, y=300))
    rig.witness.take()
    yield injector
    injector.close()
    assert rig.witness.held() == frozenset()


@pytest.fixture(scope="module")
def screens(rig: Rig) -> list[Display]:
    return rig.desktop.open_view().displays()


def corners(screen: Display) -> list[tuple[int, int]]:
    right, bottom = screen.x + screen.width - 1, screen.y + screen.height - 1
    return [(screen.x, screen.y), (right, screen.y), (screen.x, bottom), (right, bottom)]


def test_every_corner_of_every_screen_is_clicked_exactly(
    rig: Rig, injector: DesktopInjector, screens: list[Display]
) -> None:
    for x, y in (place for screen in screens for place in corners(screen)):
        assert perform(injector, ClickMouse(x=x, y=y)) == Point(x=x, y=y)
        events = rig.witness.take()
        saw(events, "move", "down left", "up left")
        assert {(event.x, event.y) for event in events} == {(x, y)}
        assert rig.witness.pointer() == (x, y)


def test_drag_goes_from_the_first_screen_to_the_last(
    rig: Rig, injector: DesktopInjector, screens: list[Display]
) -> None:
    start, end = corners(screens[0])[3], corners(screens[-1])[0]
    body = DragMouse(start_x=start[0], start_y=start[1], to_x=end[0], to_y=end[1], duration=0.2)
    assert perform(injector, body) == Point(x=end[0], y=end[1])
    events = rig.witness.take()
    assert (events[1].action, events[1].x, events[1].y) == ("down", *start)
    assert (events[-1].action, events[-1].x, events[-1].y) == ("up", *end)


def test_place_on_no_screen_is_refused(
    rig: Rig, injector: DesktopInjector, screens: list[Display]
) -> None:
    left = min(screen.x for screen in screens)
    with pytest.raises(Refusal):
        perform(injector, MoveMouse(x=left - 1, y=0))
    assert rig.witness.take() == []


def test_picture_has_every_screen_where_it_is(rig: Rig, screens: list[Display]) -> None:
    view = rig.desktop.open_view()
    for screen in screens:
        place = Region(screen.x + 30, screen.y + 40, 50, 60)
        x, y = place.x + 25, place.y + 30
        with rig.witness.painted(place, GREEN):
            eventually(lambda: pixel(view.capture(), x, y) == GREEN, f"{place} is painted")  # noqa: B023
            assert pixel(view.capture(), x + 50, y) != GREEN
