"""The text at a place of a recorded picture, in another font, among the same texts or not."""

from collections.abc import Sequence

import pytest
from PIL import Image, ImageDraw, ImageFont

from schemas.inputs.sights import Place
from schemas.values.pictures import Region, Size
from server.vision.findings import Part, PlaceFound, Question
from server.vision.looking.looking import looked_at
from tests.signs import DARK, LIGHT, Colours, png

SIZE = Size(480, 200)
ORDERS = "Order 4711", "Order 4712", "Order 4713"
EDIT = Place(x=285, y=70)
"""On the second line's button, beside its text."""


def shown(
    orders: Sequence[str],
    larger: float = 1.0,
    at: tuple[int, int] = (20, 20),
    colours: Colours = LIGHT,
) -> bytes:
    ground, ink = colours
    image = Image.new("RGB", SIZE, ground)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(round(15 * larger))
    for number, order in enumerate(orders):
        y = at[1] + round((number * 34 + 17) * larger)
        draw.text((at[0], y), order, fill=ink, font=font, anchor="lm")
        left, right = (at[0] + round(each * larger) for each in (180, 280))
        draw.rectangle((left, y - 14, right, y + 14), outline=ink)
        draw.text(((left + right) // 2, y), "Edit", fill=ink, font=font, anchor="mm")
    return png(image)


def found(now: bytes, place: Place = EDIT) -> tuple[PlaceFound, ...]:
    recorded = shown(ORDERS)
    part = Part(
        picture=Region(0, 0, *SIZE),
        length=len(recorded),
        core=Region(100, 56, 320, 32),
        line=Region(0, 56, 480, 32),
        around=Region(100, 0, 320, 160),
        text_at=place,
    )
    question = Question(region=Region(1000, 0, *SIZE), size=SIZE, part=part)
    return looked_at(question, now + recorded).places


def test_text_is_found_in_another_font_where_all_of_its_line_reads_the_same() -> None:
    best, *others = found(shown(("Order 4710", *ORDERS), 1.3, (40, 8), DARK))
    assert (best.line, best.around) == (1.0, 1.0)
    assert 1274 < best.at.x + best.at.width / 2 < 1354
    assert 93 < best.at.y + best.at.height / 2 < 129
    assert 1.15 < best.scale < 1.45
    assert best.was is not None
    assert 215 < best.was.x < 265
    assert all(each.line < 1 for each in others)


@pytest.mark.parametrize(
    ("orders", "whole_lines"),
    [
        (("Order 4711", "Order 4772", "Order 4713"), 0),
        (("Order 4711", "Order 4713"), 0),
        (("Order 4711", "Order 4712", "Order 4712"), 2),
    ],
    ids=["another line", "gone", "twice"],
)
def test_text_is_not_taken_for_that_of_another_line(
    orders: Sequence[str], whole_lines: int
) -> None:
    places = found(shown(orders, 1.3, (10, 8)))
    assert len(places) == len(orders)
    assert sum(each.line == 1 for each in places) == whole_lines


def test_where_no_text_was_or_is_there_is_no_place() -> None:
    assert found(shown(ORDERS), Place(x=150, y=4)) == ()
    assert found(png(Image.new("RGB", SIZE, "white"))) == ()
