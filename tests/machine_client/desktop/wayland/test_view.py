"""Pictures of a compositor's screens, also of turned ones, and where there are none.

A headless sway cannot switch a screen off: that is tried on a compositor that never draws.
"""

from pathlib import Path

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland import view as view_module
from machine_client.desktop.wayland.desktop import WaylandDesktop
from schemas.values.pictures import Region
from tests.machine_client.desktop.contract.rig import pixel
from tests.machine_client.desktop.wayland.compositor import sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor
from tests.machine_client.desktop.wayland.rig import WaylandWitness
from tests.waiting import eventually

RED = (255, 0, 0)
TRANSFORMS = ("90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270")


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_turned_screen_is_shown_upright(transform: str, tmp_path: Path) -> None:
    screen = f"output HEADLESS-1 resolution 640x400 position 0 0 scale 1 transform {transform}"
    with sway(screen) as compositor:
        witness = WaylandWitness(compositor, tmp_path)
        view = WaylandDesktop(compositor.name).open_view()
        with witness.painted(Region(30, 50, 60, 20), RED):
            eventually(lambda: pixel(view.capture(), 40, 60) == RED, "it is painted")
            frame = view.capture()
        corners = [(x, y) for x in (30, 89) for y in (50, 69)]
        beside = [(29, 50), (30, 49), (90, 69), (89, 70)]
        assert {pixel(frame, *place) for place in corners} == {RED}
        assert {pixel(frame, *place) for place in beside} == {(0, 0, 0)}
        view.close()
        witness.close()


def test_compositor_that_never_draws_is_given_up(
    fake: FakeCompositor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_module, "_PATIENCE_SECONDS", 0.1)
    view = WaylandDesktop(fake.name).open_view()
    with pytest.raises(DesktopError, match="gives no picture"):
        view.capture()
    view.close()


def test_screencopy_that_is_withdrawn_is_named(fake: FakeCompositor) -> None:
    view = WaylandDesktop(fake.name).open_view()
    view.displays()
    view.pointer()
    fake.withdraw("zwlr_screencopy_manager_v1")
    with pytest.raises(DesktopError, match="zwlr_screencopy_manager_v1"):
        view.capture()
    view.close()
