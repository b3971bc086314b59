"""Where a compositor's screens are, whatever becomes of them."""

from collections.abc import Iterator

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.outputs import Outputs
from machine_client.desktop.wayland.view import look_at_displays
from machine_client.desktop.wayland.wire.connection import WaylandConnection
from schemas.link.messages import Display
from schemas.values.pictures import Region
from tests.machine_client.desktop.wayland.compositor import Sway, sway
from tests.machine_client.desktop.wayland.fake_compositor import FakeCompositor
from tests.waiting import eventually


@pytest.fixture(scope="module")
def screens() -> Iterator[Sway]:
    """Three, one to the left of and above 0, one turned, one scaled by a fraction."""
    with sway(
        "output HEADLESS-1 resolution 1280x800 position 0 0 scale 1",
        "output HEADLESS-2 resolution 1000x600 position -300 -500 scale 2 transform 90",
        "output HEADLESS-3 resolution 1200x900 position 1280 0 scale 1.5",
    ) as compositor:
        yield compositor


def test_screens_are_told_in_the_coordinates_of_inputs_from_left_to_right(screens: Sway) -> None:
    assert look_at_displays(screens.name) == [
        Display(x=-300, y=-500, width=300, height=500, scale=2),
        Display(x=0, y=0, width=1280, height=800, scale=1),
        Display(x=1280, y=0, width=800, height=600, scale=1.5),
    ]


def test_screen_that_changes_or_comes_is_heard_of(screens: Sway) -> None:
    connection = WaylandConnection(screens.name)
    outputs = Outputs(connection)
    assert outputs.around() == Region(-300, -500, 2380, 1300)

    def around(region: Region) -> None:
        def is_so() -> bool:
            connection.round_trip()
            return outputs.around() == region

        eventually(is_so, f"the screens are within {region}")

    screens.tell("output", "HEADLESS-3", "scale", "1")
    around(Region(-300, -500, 2780, 1400))
    screens.tell("output", "HEADLESS-3", "position", "1280", "1000")
    around(Region(-300, -500, 2780, 2400))
    screens.tell("create_output")
    screens.tell("output", "HEADLESS-4", "resolution", "640x480", "position", "-940", "0")
    around(Region(-940, -500, 3420, 2400))
    assert len(outputs.displays()) == 4
    connection.close()


def test_without_logical_sizes_the_pixels_count(fake: FakeCompositor) -> None:
    assert look_at_displays(fake.name) == [Display(x=0, y=0, width=800, height=600)]


def test_screen_that_goes_is_gone_and_none_is_an_error(fake: FakeCompositor) -> None:
    connection = WaylandConnection(fake.name)
    outputs = Outputs(connection)
    fake.withdraw("wl_output")
    connection.round_trip()
    with pytest.raises(DesktopError, match="no screen"):
        outputs.displays()
    connection.close()
