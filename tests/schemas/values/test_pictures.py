"""Regions of a desktop, and sizes of pictures."""

import pytest

from schemas.link.messages import Display
from schemas.values.pictures import Region, Size, fitting


def test_region_around_one_display_is_its_own() -> None:
    assert Region.around([Display(x=5, y=-3, width=20, height=10)]) == Region(5, -3, 20, 10)


def test_region_around_displays_has_the_gaps_between_them() -> None:
    displays = [Display(x=-10, y=0, width=10, height=10), Display(x=0, y=5, width=20, height=10)]
    assert Region.around(displays) == Region(-10, 0, 30, 15)
    assert Region.around([Region(0, 0, 1, 1), Region(9, -9, 1, 1)]) == Region(0, -9, 10, 10)


@pytest.mark.parametrize(
    ("own", "width", "height", "fits"),
    [
        ((1280, 800), None, None, (1280, 800)),
        ((1280, 800), 4000, 4000, (1280, 800)),
        ((1280, 800), 640, None, (640, 400)),
        ((1280, 800), None, 80, (128, 80)),
        ((1280, 800), 640, 80, (128, 80)),
        ((1280, 800), 1, 1, (1, 1)),
        ((1366, 768), 640, 640, (640, 359)),
        ((20_000, 1), None, None, (16_384, 1)),
        ((16_384, 16_384), None, None, (8192, 8192)),
    ],
)
def test_aspect_is_kept_and_nothing_is_enlarged(
    own: tuple[int, int], width: int | None, height: int | None, fits: tuple[int, int]
) -> None:
    assert fitting(Size(*own), width, height) == fits
