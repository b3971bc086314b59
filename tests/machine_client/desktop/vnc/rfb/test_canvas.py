"""Painting and cutting, and what is too large."""

import random
import tracemalloc

import pytest

from machine_client.desktop.vnc.rfb.canvas import (
    MAX_PIXELS,
    Canvas,
    check_size,
    check_within,
)
from machine_client.desktop.vnc.rfb.parsing import ProtocolError


def rows(canvas: Canvas) -> list[str]:
    lines = [canvas.cut(0, y, canvas.width, 1) for y in range(canvas.height)]
    return ["".join(chr(line[4 * x] or 46) for x in range(canvas.width)) for line in lines]


def pixels(text: str) -> bytes:
    return b"".join(bytes([ord(each), 0, 0, 0]) for each in text)


def test_rectangles_are_painted_where_they_belong_and_cut_as_they_were() -> None:
    canvas = Canvas(4, 3)
    canvas.paint(1, 1, 2, pixels("abcd"))
    assert rows(canvas) == ["....", ".ab.", ".cd."]
    assert canvas.cut(1, 1, 2, 2) == pixels("abcd")
    canvas.paint(0, 0, 4, pixels("wxyz"))
    assert rows(canvas) == ["wxyz", ".ab.", ".cd."]
    assert canvas.cut(0, 0, 4, 2) == pixels("wxyz\0ab\0")


def test_copies_may_overlap() -> None:
    canvas = Canvas(4, 2)
    canvas.paint(0, 0, 4, pixels("abcdefgh"))
    canvas.copy(0, 0, 1, 0, 3, 2)
    assert rows(canvas) == ["aabc", "eefg"]
    canvas.copy(1, 0, 0, 0, 3, 2)
    assert rows(canvas) == ["abcc", "efgg"]


def test_copies_that_overlap_are_right_in_every_direction() -> None:
    draw = random.Random(7)
    for _ in range(500):
        canvas = Canvas(6, 5)
        canvas.paint(0, 0, 6, draw.randbytes(4 * 6 * 5))
        width, height = draw.randint(1, 6), draw.randint(1, 5)
        from_x, x = (draw.randint(0, 6 - width) for _ in range(2))
        from_y, y = (draw.randint(0, 5 - height) for _ in range(2))
        expected = Canvas(6, 5)
        expected.paint(0, 0, 6, canvas.pixels)
        expected.paint(x, y, width, canvas.cut(from_x, from_y, width, height))
        canvas.copy(from_x, from_y, x, y, width, height)
        assert canvas.pixels == expected.pixels


def test_copy_takes_no_further_memory() -> None:
    canvas = Canvas(1000, 1000)
    tracemalloc.start()
    try:
        canvas.copy(0, 0, 0, 1, 1000, 999)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


def test_sizes_have_a_bound() -> None:
    check_size(7680, 4320)
    for width, height in ((0, 1), (1, 0), (MAX_PIXELS, 2), (65535, 65535)):
        with pytest.raises(ProtocolError):
            check_size(width, height)


def test_what_is_not_on_the_screen_is_refused() -> None:
    check_within((10, 10), 9, 9, 1, 1)
    for place in ((9, 9, 2, 1), (9, 9, 1, 2), (65535, 0, 65535, 1)):
        with pytest.raises(ProtocolError):
            check_within((10, 10), *place)
