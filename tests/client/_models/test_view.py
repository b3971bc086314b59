"""From the pixels of a picture to those of the desktop, and back."""

import pytest

from farhand._models.view import View
from farhand.types import Area, Picture, Point

VIEW = View.of(
    Picture(
        data=b"",
        format="png",
        width=640,
        height=360,
        region=Area(x=-100, y=50, width=1920, height=1080),
    )
)


def test_size_is_that_of_the_picture() -> None:
    assert VIEW.size == (640, 360)


@pytest.mark.parametrize(
    ("region", "part"),
    [
        ((0, 0, 640, 360), (-100, 50, 1920, 1080)),
        ((10, 20, 11, 21), (-70, 110, 3, 3)),
        ((639, 359, 640, 360), (1817, 1127, 3, 3)),
    ],
)
def test_part_of_the_desktop(
    region: tuple[int, int, int, int], part: tuple[int, int, int, int]
) -> None:
    assert VIEW.part(region) == dict(zip(("x", "y", "width", "height"), part, strict=True))


def test_part_is_whole_where_the_picture_is_a_little_smaller() -> None:
    view = View(640, 400, 0, 0, 1000, 625)
    assert view.part((1, 1, 2, 2)) == {"x": 1, "y": 1, "width": 3, "height": 3}
    assert view.part((0, 0, 640, 400)) == {"x": 0, "y": 0, "width": 1000, "height": 625}


@pytest.mark.parametrize(
    "region", [(-1, 0, 5, 5), (0, 0, 641, 5), (0, 0, 5, 361), (5, 0, 5, 5), (0, 9, 5, 5)]
)
def test_what_is_not_within_the_picture_is_no_part(region: tuple[int, int, int, int]) -> None:
    assert VIEW.part(region) is None


@pytest.mark.parametrize(
    ("point", "pixel"), [((-100, 50), (0, 0)), ((1819, 1129), (639, 359)), ((-97, 53), (1, 1))]
)
def test_pixel_of_a_point(point: tuple[int, int], pixel: tuple[int, int]) -> None:
    assert VIEW.pixel(Point(x=point[0], y=point[1])) == pixel


def test_pixel_is_the_one_that_the_middle_lies_in() -> None:
    assert View(640, 400, 0, 0, 1000, 625).pixel(Point(x=3, y=3)) == (2, 2)
