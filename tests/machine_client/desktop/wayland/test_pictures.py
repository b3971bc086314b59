"""Pictures of several screens as one."""

import array

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.desktop.wayland.pictures import Picture, blue_first, put_together, upright
from schemas.values.pictures import Region, Size


def pixels(*words: int) -> bytearray:
    return bytearray(array.array("I", words).tobytes())


def words(content: bytearray) -> list[int]:
    return array.array("I", bytes(content)).tolist()


def test_bytes_come_out_blue_green_red_or_not_at_all() -> None:
    assert blue_first(bytearray(b"bgrxBGRX"), 1) == b"bgrxBGRX"
    assert blue_first(bytearray(b"rgbxRGBX"), 0x34324258) == b"bgrxBGRX"
    with pytest.raises(DesktopError, match="0x3231"):
        blue_first(bytearray(), 0x3231)


@pytest.mark.parametrize(
    ("transform", "seen", "size"),
    [
        (0, [1, 2, 3, 4, 5, 6], Size(3, 2)),
        (1, [4, 1, 5, 2, 6, 3], Size(2, 3)),
        (2, [6, 5, 4, 3, 2, 1], Size(3, 2)),
        (3, [3, 6, 2, 5, 1, 4], Size(2, 3)),
        (4, [3, 2, 1, 6, 5, 4], Size(3, 2)),
    ],
)
def test_picture_is_turned_as_it_is_looked_at(transform: int, seen: list[int], size: Size) -> None:
    picture = Picture(pixels(1, 2, 3, 4, 5, 6), Size(3, 2), transform, Region(0, 0, 3, 2))
    turned, turned_size = upright(picture)
    assert (words(turned), turned_size) == (seen, size)


def test_screens_are_put_in_their_places_and_the_rest_is_black() -> None:
    left = Picture(pixels(1, 2), Size(2, 1), 0, Region(-2, 0, 2, 1))
    right = Picture(pixels(3, 4), Size(1, 2), 0, Region(0, 0, 1, 2))
    canvas, size = put_together([left, right], Region(-2, 0, 3, 2))
    assert (words(canvas), size) == ([1, 2, 3, 0, 0, 4], Size(3, 2))


def test_screens_of_several_scales_are_brought_to_the_finest() -> None:
    coarse = Picture(pixels(1, 2), Size(2, 1), 0, Region(0, 0, 2, 1))
    fine = Picture(pixels(5, 6, 7, 8), Size(2, 2), 0, Region(2, 0, 1, 1))
    canvas, size = put_together([coarse, fine], Region(0, 0, 3, 1))
    assert (words(canvas), size) == ([1, 1, 2, 2, 5, 6, 1, 1, 2, 2, 7, 8], Size(6, 2))
