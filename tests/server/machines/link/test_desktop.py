"""How a desktop is, and since when."""

from collections.abc import Sequence

import pytest

from schemas.link.messages import (
    Capability,
    DesktopChanged,
    Display,
)
from server.machines.link.desktop import DesktopState
from tests.links import hello

YES = Capability(available=True)


GONE = Capability(available=False, reason="the display is gone")


DARK = Capability(available=False, reason="it is dark")


OFF = Capability(available=False, reason="its owner lets nobody look", switched_off=True)


SMALL = Display(x=0, y=0, width=800, height=600)


GREETING = hello(no_screen=None)


def desktop(
    input_: Capability = YES,
    screen: Capability = YES,
    displays: Sequence[Display] = tuple(GREETING.displays),
) -> DesktopChanged:
    return DesktopChanged(displays=[*displays], input=input_, screen=screen)


def test_since_is_when_each_came_or_went_and_not_when_its_reason_changed() -> None:
    live = DesktopState.greeted(GREETING, 1)
    assert (live.input_since, live.screen_since) == (1, 1)
    live = live.changed_to(desktop(GONE), 2)
    assert (live.input_since, live.screen_since) == (2, 1)
    live = live.changed_to(desktop(DARK, GONE), 3)
    assert (live.input_since, live.screen_since) == (2, 3)
    assert live.input == DARK
    live = live.changed_to(desktop(displays=[SMALL]), 4)
    assert (live.input_since, live.screen_since, live.displays) == (4, 4, (SMALL,))


@pytest.mark.parametrize(("screen", "is_dark"), [(YES, False), (GONE, True), (OFF, False)])
def test_screen_that_was_switched_off_is_no_trouble(screen: Capability, is_dark: bool) -> None:
    assert DesktopState.greeted(GREETING, 1).changed_to(desktop(YES, screen), 2).is_dark is is_dark
