"""The pointer: where it is taken to be, and what is counted."""

from machine_client.desktop.wayland.desktop import WaylandDesktop
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse, MoveMouse
from schemas.inputs.outcomes import Point
from tests.machine_client.desktop.wayland.compositor import sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor


def test_until_it_is_moved_the_pointer_is_taken_to_be_in_the_middle(fake: FakeCompositor) -> None:
    desktop = WaylandDesktop(fake.name)
    view, injector = desktop.open_view(), DesktopInjector(desktop)
    assert injector.prepare(ClickMouse())() == view.pointer() == Point(x=400, y=300)
    assert injector.prepare(MoveMouse(x=7, y=8))() == view.pointer() == Point(x=7, y=8)
    injector.close()
    view.close()


def test_another_compositor_at_the_same_place_has_its_pointer_in_the_middle() -> None:
    with sway() as compositor:
        desktop = WaylandDesktop(compositor.name)
        before = DesktopInjector(desktop)
        assert before.prepare(MoveMouse(x=7, y=8))() == Point(x=7, y=8)
        before.close()
        again = DesktopInjector(desktop)
        assert again.prepare(ClickMouse())() == Point(x=7, y=8)
        again.close()
        compositor.kill()
        compositor.start()
        after = DesktopInjector(desktop)
        assert after.prepare(ClickMouse())() == Point(x=640, y=400)
        after.close()


def test_move_to_where_it_is_counts_for_nothing(fake: FakeCompositor) -> None:
    injector = DesktopInjector(WaylandDesktop(fake.name))
    counts = []
    for x in (5, 5, 6):
        injector.prepare(MoveMouse(x=x, y=5))()
        counts.append(injector.injected)
    # Of the first it is not known whether it moved anything.
    assert counts == [0, 0, 1]
    injector.close()
