"""One picture and several conditions: the first that is met is told, with its place."""

import pytest

from schemas.inputs.sights import PictureShown, Place, TextShown
from schemas.values.pictures import Region, Size
from server.vision.findings import Question
from server.vision.looking.looking import looked_at
from tests.signs import base64_png, drawn, png

SHOWN = png(drawn("Total (3)"))
CUT = base64_png(drawn("Total (3)").crop((10, 30, 120, 70)))
OTHER = base64_png(drawn("Total (8)").crop((10, 30, 120, 70)))


def asked(*conditions: TextShown | PictureShown, scale: int = 1) -> Question:
    region = Region(1000, 500, 400 * scale, 100 * scale)
    return Question(conditions=tuple(enumerate(conditions)), region=region, size=Size(400, 100))


@pytest.mark.parametrize(
    ("conditions", "matched"),
    [
        ([TextShown(text="Saved"), TextShown(text="Total (3)")], 1),
        ([TextShown(text="Total (3)"), TextShown(text="Total (3)", gone=True)], 0),
        ([TextShown(text="Saved", gone=True)], 0),
        ([PictureShown(picture=OTHER), PictureShown(picture=CUT)], 1),
        ([PictureShown(picture=CUT, gone=True), PictureShown(picture=OTHER, gone=True)], 1),
        ([PictureShown(picture=CUT, near=Place(x=0, y=0))], 0),
        ([TextShown(text="Saved"), PictureShown(picture=OTHER)], None),
    ],
)
def test_first_condition_that_is_met(
    conditions: list[TextShown | PictureShown], matched: int | None
) -> None:
    assert looked_at(asked(*conditions), SHOWN).matched == matched


def test_place_is_on_the_desktop_whatever_the_pixels_are() -> None:
    found = looked_at(asked(PictureShown(picture=CUT), scale=2), SHOWN)
    assert found.at == Region(1020, 560, 220, 80)


def test_texts_that_are_there_are_told_where_none_is_met() -> None:
    found = looked_at(asked(TextShown(text="Totals")), SHOWN)
    assert (found.matched, found.seen) == (None, ("Total (3)",))
    assert looked_at(asked(PictureShown(picture=OTHER)), SHOWN).seen == ()


def test_without_conditions_all_texts_are_told() -> None:
    (text,) = looked_at(asked(), SHOWN).texts
    assert text.text == "Total (3)"
    assert text.at.x > 1000
