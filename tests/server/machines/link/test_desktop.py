"""How a desktop is, and since when."""

import pytest

from schemas.link.messages import (
    Capability,
)
from server.machines.link.desktop import DesktopState
from tests.desktop_states import DARK, GONE, GREETING, OFF, SMALL, YES, desktop


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
