"""What is told of a desktop's screens, as ``farhand-machine doctor`` says it."""

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.looks import size_of_picture, sizes_of_displays
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.x11.desktop import X11Desktop


def test_screens_and_their_picture_are_told_by_their_sizes(display: str) -> None:
    desktop = X11Desktop(display)
    assert sizes_of_displays(desktop) == "1280x800"
    assert size_of_picture(desktop) == "operators can see 1280x800"


@pytest.mark.parametrize("look", [sizes_of_displays, size_of_picture])
def test_desktop_that_shows_nothing_says_why(look: object) -> None:
    assert callable(look)
    with pytest.raises(DesktopError, match="there is none"):
        look(UnavailableDesktop("there is none"))
