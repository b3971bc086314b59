"""Regions of a desktop."""

from schemas.link.messages import Display
from schemas.values.pictures import Region


def test_region_around_one_display_is_its_own() -> None:
    assert Region.around([Display(x=5, y=-3, width=20, height=10)]) == Region(5, -3, 20, 10)


def test_region_around_displays_has_the_gaps_between_them() -> None:
    displays = [Display(x=-10, y=0, width=10, height=10), Display(x=0, y=5, width=20, height=10)]
    assert Region.around(displays) == Region(-10, 0, 30, 15)
    assert Region.around([Region(0, 0, 1, 1), Region(9, -9, 1, 1)]) == Region(0, -9, 10, 10)
