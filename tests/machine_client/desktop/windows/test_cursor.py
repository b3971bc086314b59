"""Which part of the pointer lies in a picture; that it is drawn there is in the contract."""

import pytest

from machine_client.desktop.windows import api, cursor
from machine_client.desktop.windows.cursor import draw_pointer
from schemas.values.pictures import Region

REGION = Region(0, 0, 10, 8)


@pytest.mark.parametrize(
    ("left", "top", "rows"),
    [
        (2, 3, [(0, 128, 8), (8, 168, 8)]),
        (-1, 0, [(4, 0, 4), (12, 40, 4)]),
        (9, 7, [(0, 316, 4)]),
        (0, -1, [(8, 0, 8)]),
        (10, 0, []),
        (0, 8, []),
        (-2, 0, []),
    ],
)
def test_only_what_is_in_the_picture_is_drawn(
    left: int, top: int, rows: list[tuple[int, int, int]]
) -> None:
    assert cursor._rows(left, top, 2, 2, REGION) == rows


def test_pointer_that_does_not_show_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "get_cursor_info", lambda _: False)
    pixels = bytearray(range(256)) + bytearray(64)
    before = bytes(pixels)
    draw_pointer(pixels, REGION)
    assert bytes(pixels) == before
