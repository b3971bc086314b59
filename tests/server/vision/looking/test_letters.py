"""What is left of a picture without the lines that boxes are made of."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from server.vision.looking import pixels
from server.vision.looking.letters import without_lines
from server.vision.looking.recorded import DISTINCT, Edges, edges, part_alike
from tests.signs import DARK, LIGHT, drawn, png

SIZE = 320, 48
FIELD = 150, 8, 300, 40


def left(image: Image.Image) -> Edges:
    picture = pixels.decoded(png(image))
    return without_lines(picture, edges(picture))


def with_box(
    image: Image.Image, *, ink: str = "#909090", width: int = 1, ground: str | None = None
) -> Image.Image:
    draw = ImageDraw.Draw(image)
    draw.rectangle(FIELD, outline=ink, width=width, fill=ground)
    return image


@pytest.mark.parametrize(
    "changed",
    [
        with_box(drawn("Bill 1117", SIZE), ink="#2060c0", width=2),
        with_box(drawn("Bill 1117", SIZE), ink="#202020", ground="#d0d0d0"),
        with_box(drawn("Bill 1117", SIZE, DARK), ink="#000000", ground="#101010"),
    ],
    ids=["with the focus", "under the pointer", "dark"],
)
def test_box_that_is_drawn_otherwise_is_the_same_without_its_lines(changed: Image.Image) -> None:
    usual = with_box(drawn("Bill 1117", SIZE))
    assert part_alike(left(changed), left(usual)) == 1.0
    assert part_alike(left(changed), left(drawn("Bill 1117", SIZE))) == 1.0


@pytest.mark.parametrize("text", ["Bil 1117", "Bill 117", "Bill 1111", "BiIl 1117"])
def test_letters_that_are_lines_are_left(text: str) -> None:
    one, other = (left(with_box(drawn(each, SIZE))) for each in ("Bill 1117", text))
    assert part_alike(one, other) < 1.0


def test_tick_and_the_box_around_it_are_left() -> None:
    box = drawn("Paid", SIZE)
    ImageDraw.Draw(box).rectangle((100, 16, 116, 32), outline="#909090")
    ticked = box.copy()
    ImageDraw.Draw(ticked).line((103, 24, 107, 29, 114, 19), fill="#202020", width=2)
    assert part_alike(left(ticked), left(box)) < 1.0
    assert np.any(left(box)[:, 96:120] >= DISTINCT)


def test_caret_is_taken_from_an_empty_field_alone() -> None:
    usual, caret = (with_box(drawn("Bill", SIZE)) for _ in range(2))
    ImageDraw.Draw(caret).line((157, 16, 157, 32), fill="#000000")
    assert part_alike(left(caret), left(usual)) == 1.0
    written = with_box(drawn("Bill", SIZE))
    ImageDraw.Draw(written).text((157, 16), "I 4", fill="#000000")
    assert part_alike(left(written), left(usual)) < 1.0
    # A line that no field is around.
    beside = with_box(drawn("Bill", SIZE))
    ImageDraw.Draw(beside).line((90, 16, 90, 32), fill="#000000")
    assert part_alike(left(beside), left(usual)) < 1.0


def test_colours_of_one_picture_are_no_lines() -> None:
    assert left(Image.new("RGB", SIZE, LIGHT[0])).max() == 0
