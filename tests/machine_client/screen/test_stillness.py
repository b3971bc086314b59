"""What counts as a change of a screen, on frames that a test paints."""

import pytest

from machine_client.desktop.base import RawFrame
from machine_client.screen.stillness import (
    SMALL_HEIGHT,
    SMALL_WIDTH,
    STAYS_SECONDS,
    Judge,
    change_between,
)
from schemas.inputs.waits import Changed, Still, Wait
from schemas.values.pictures import Region, Size

WIDTH, HEIGHT = 320, 200
CARET = Region(50, 60, 2, 18)
WINDOW = Region(100, 40, 120, 90)
CLOCK = Region(280, 0, 40, 16)


def screen(*painted: Region, scale: int = 1, left: int = 0, shade: int = 200) -> RawFrame:
    """A black desktop with grey rectangles, in the desktop's pixels."""
    size = Size(WIDTH * scale, HEIGHT * scale)
    pixels = bytearray(size.width * size.height * 4)
    for each in painted:
        for y in range(each.y * scale, (each.y + each.height) * scale):
            start = (y * size.width + (each.x - left) * scale) * 4
            pixels[start : start + each.width * scale * 4] = bytes([shade]) * each.width * scale * 4
    return RawFrame(Region(left, 0, WIDTH, HEIGHT), size, pixels, 0.0)


def judge(*conditions: dict[str, object], before: RawFrame | None = None) -> Judge:
    wait = Wait.model_validate({"any": list(conditions)})
    return Judge(wait.any, before or screen(), 0.0)


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("left", [0, -320])
def test_change_is_told_in_the_desktops_pixels(scale: int, left: int) -> None:
    window = WINDOW._replace(x=WINDOW.x + left)
    before, after = screen(scale=scale, left=left), screen(window, scale=scale, left=left)
    assert change_between(before, after, Changed(changed=True)) == window
    assert change_between(after, after, Changed(changed=True)) is None


def test_byte_that_says_nothing_is_no_change() -> None:
    before, after = screen(), screen()
    after.pixels[3::4] = b"\x7f" * (len(after.pixels) // 4)
    assert change_between(before, after, Changed(changed=True)) is None


def test_only_what_is_looked_at_counts_and_what_is_ignored_does_not() -> None:
    before, after = screen(), screen(WINDOW, CLOCK)
    beside = {"x": 0, "y": 150, "width": 40, "height": 40}
    clock, window = CLOCK._asdict(), WINDOW._asdict()
    looks = {"changed": True, "region": beside}
    assert change_between(before, after, Changed.model_validate(looks)) is None
    looks = {"changed": True, "ignore": [clock]}
    assert change_between(before, after, Changed.model_validate(looks)) == WINDOW
    looks = {"changed": True, "ignore": [clock, window]}
    assert change_between(before, after, Changed.model_validate(looks)) is None
    looks = {"changed": True, "region": clock, "ignore": [window]}
    assert change_between(before, after, Changed.model_validate(looks)) == CLOCK


def test_screen_of_another_size_has_changed() -> None:
    other = RawFrame(Region(0, 0, 10, 10), Size(10, 10), bytearray(400), 0.0)
    assert change_between(screen(), other, Still(still=1)) == other.region


def test_change_is_met_at_once_and_says_where() -> None:
    waits = judge({"still": 10}, {"changed": True})
    assert waits.met(0.1) is None
    waits.saw(screen(WINDOW), 0.2)
    assert waits.met(0.2) == (1, WINDOW)


def test_blinking_caret_is_no_change_and_leaves_a_screen_still() -> None:
    waits = judge({"still": 2.0}, {"changed": True})
    for half in range(8):
        waits.saw(screen(CARET) if half % 2 == 0 else screen(), half * 0.5)
        if half * 0.5 < 2:
            assert waits.met(half * 0.5) is None
    assert waits.met(2.0) == (0, None)


def test_small_change_that_stays_is_one() -> None:
    waits = judge({"changed": True})
    waits.saw(screen(CARET), 1.0)
    assert waits.met(1.0 + STAYS_SECONDS - 0.01) is None
    assert waits.met(1.0 + STAYS_SECONDS) == (0, CARET)


def test_only_what_is_no_larger_than_a_caret_is_small() -> None:
    for region, met in (
        (Region(0, 0, SMALL_WIDTH, SMALL_HEIGHT), None),
        (Region(0, 0, SMALL_WIDTH + 1, 1), (0, Region(0, 0, SMALL_WIDTH + 1, 1))),
        (Region(0, 0, 1, SMALL_HEIGHT + 1), (0, Region(0, 0, 1, SMALL_HEIGHT + 1))),
    ):
        waits = judge({"changed": True})
        waits.saw(screen(region), 1.0)
        assert waits.met(1.0) == met


def test_two_carets_far_from_each_other_are_a_change() -> None:
    waits = judge({"changed": True})
    waits.saw(screen(CARET, CARET._replace(x=200)), 1.0)
    assert waits.met(1.0) is not None


def test_screen_is_still_so_long_after_its_last_change() -> None:
    waits = judge({"still": 1.0})
    waits.saw(screen(WINDOW), 0.9)
    assert waits.met(1.5) is None
    assert waits.due_at == pytest.approx(1.9)
    waits.saw(screen(WINDOW), 1.8)
    assert waits.met(1.9) == (0, None)


def test_small_steps_add_up() -> None:
    waits = judge({"still": 1.0})
    bar = Region(10, 10, 0, 8)
    for step in range(1, 8):
        waits.saw(screen(bar._replace(width=step * 10)), step * 0.4)
        assert waits.met(step * 0.4) is None
