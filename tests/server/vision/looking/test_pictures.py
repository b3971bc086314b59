"""Pictures in pictures: found where they are, and nowhere where several could be it."""

import pytest
from PIL import Image, ImageDraw

from server.vision.looking.pictures import Found, chosen, find
from server.vision.looking.pixels import Box, Pixels, decoded
from tests.signs import DARK, LIGHT, Colours, drawn, png

HERE, THERE = Box(0, 0, 20, 10), Box(300, 0, 20, 10)


def pixels(image: Image.Image) -> Pixels:
    return decoded(png(image))


def button(text: str, colours: Colours = LIGHT) -> Image.Image:
    image = drawn(text, (110, 32), colours)
    ImageDraw.Draw(image).rectangle((0, 0, 109, 31), outline=colours[1])
    return image


def screen(*buttons: tuple[Image.Image, tuple[int, int]], colours: Colours = LIGHT) -> Pixels:
    image = Image.new("RGB", (800, 600), colours[0])
    for each, place in buttons:
        image.paste(each, place)
    return pixels(image)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize("moved", [0, 7, 290, 600])
def test_button_is_found_where_it_went_in_any_colours(colours: Colours, moved: int) -> None:
    shown = screen((button("Order 4", colours), (50 + moved, 300)), colours=colours)
    (found,) = find(shown, pixels(button("Order 4")), 0.9)
    assert found.box == Box(50 + moved, 300, 110, 32)


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("sought", "like"),
    [("Order 3", "Order 8"), ("Order 8", "Order 3"), ("Save", "Save as"), ("Save as", "Save")],
)
def test_what_only_looks_alike_is_not_it(sought: str, like: str, colours: Colours) -> None:
    shown = screen((button(like, colours), (200, 200)), colours=colours)
    assert chosen(find(shown, pixels(button(sought)), 0.9), None) is None


@pytest.mark.parametrize("scale", [1.25, 0.8])
def test_button_is_found_a_little_larger_or_smaller(scale: float) -> None:
    own = button("Order 4")
    size = round(own.width * scale), round(own.height * scale)
    shown = screen((own.resize(size, Image.Resampling.BILINEAR), (200, 200)))
    (found,) = find(shown, pixels(own), 0.8)
    assert abs(found.box.x - 200) <= 1
    assert abs(found.box.width - size[0]) <= 1


def test_two_of_the_same_are_both_found_and_none_is_chosen() -> None:
    same = button("Order 4")
    found = find(screen((same, (100, 100)), (same, (400, 100))), pixels(same), 0.9)
    assert len(found) == 2
    assert chosen(found, None) is None
    near_the_second = chosen(found, (455, 120))
    assert near_the_second is not None
    assert near_the_second.x == 400
    assert chosen(found, (700, 500)) is None


@pytest.mark.parametrize(
    ("found", "near", "expected"),
    [
        ([], None, None),
        ([], (10, 5), None),
        ([Found(HERE, 0.91)], None, HERE),
        ([Found(HERE, 0.91)], (500, 500), HERE),
        ([Found(HERE, 0.95), Found(THERE, 0.92)], None, None),
        # A crisp look-alike is more alike than the dim one that is meant.
        ([Found(HERE, 0.91), Found(THERE, 0.98)], (10, 5), HERE),
        ([Found(HERE, 0.91), Found(THERE, 0.98)], (100, 5), None),
        ([Found(HERE, 1.0), Found(THERE, 0.98)], None, HERE),
        ([Found(HERE, 1.0), Found(THERE, 1.0)], None, None),
    ],
)
def test_choice(found: list[Found], near: tuple[float, float] | None, expected: Box | None) -> None:
    assert chosen(found, near) == expected


def test_picture_of_one_colour_or_larger_than_the_screen_is_nowhere() -> None:
    shown = screen((button("Order 4"), (100, 100)))
    assert find(shown, pixels(Image.new("RGB", (40, 40), LIGHT[0])), 0.9) == []
    assert find(shown, pixels(drawn("Order 4", (1000, 700))), 0.9) == []
