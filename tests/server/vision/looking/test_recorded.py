"""A part of a recorded picture in another one: where it is, and how much is around it again."""

import io

import pytest
from PIL import Image, ImageDraw

from schemas.inputs.sights import Place
from schemas.values.pictures import Region, Size
from server.vision.findings import Part, Question
from server.vision.looking.looking import looked_at
from tests.finding.measuring import Measured, measured, report
from tests.signs import drawn, png

WORDS = drawn("Order 4711", (320, 40))
CORE = Region(100, 100, 320, 40)


def screen(at: tuple[int, int], sign: Image.Image = WORDS) -> bytes:
    image = Image.new("RGB", (640, 400), "#f0f0f0")
    image.paste(sign, at)
    return png(image)


def asked(recorded: bytes, core: Region = CORE, around: Region = CORE) -> Question:
    part = Part(
        picture=Region(0, 0, 640, 400), length=len(recorded), core=core, line=core, around=around
    )
    return Question(region=Region(1000, 0, 1280, 800), size=Size(640, 400), part=part)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_line_is_found_where_it_went_and_no_other_is_taken_for_it(seed: int) -> None:
    found = measured(seed)
    assert found == Measured(1.0, found.other, "right", "halted")
    assert found.other < 0.99


def test_report_tells_of_both_halves() -> None:
    assert report(2).endswith("look-alikes taken for them: 0")


def test_place_is_on_the_desktop_and_what_is_around_is_told() -> None:
    recorded = screen((100, 100))
    findings = looked_at(asked(recorded), screen((37, 211)) + recorded)
    (place,) = findings.places
    assert place.at == Region(1074, 422, 640, 80)
    assert (place.scale, place.line, place.around) == (1.0, 1.0, 1.0)
    both = Image.new("RGB", (640, 400), "#f0f0f0")
    both.paste(WORDS, (100, 100))
    both.paste(drawn("Invoices", (320, 40)), (100, 150))
    recorded = png(both)
    question = asked(recorded, around=Region(100, 100, 320, 90))
    (place,) = looked_at(question, screen((37, 211)) + recorded).places
    assert place.line == 1.0
    assert 0.3 < place.around < 0.8


@pytest.mark.parametrize("scale", [1.25, 1.5])
def test_screen_that_is_drawn_larger_shows_it_at_that_scale(scale: float) -> None:
    recorded = screen((100, 100))
    larger = Image.open(io.BytesIO(screen((100, 100))))
    now = png(larger.resize((round(640 * scale), round(400 * scale)), Image.Resampling.BILINEAR))
    question = asked(recorded).model_copy(update={"region": Region(0, 0, 640, 400)})
    question = question.model_copy(update={"size": Size(round(640 * scale), round(400 * scale))})
    (place,) = looked_at(question, now + recorded).places
    assert (place.scale, place.line) == (scale, 1.0)
    assert abs(place.at.x - 100) <= 1
    other = png(
        Image.open(io.BytesIO(screen((100, 100), drawn("Order 4717", (320, 40))))).resize(
            (round(640 * scale), round(400 * scale)), Image.Resampling.BILINEAR
        )
    )
    assert all(each.line < 1 for each in looked_at(question, other + recorded).places)


def test_what_keys_go_to_has_to_be_drawn_as_strongly() -> None:
    def field(border: int) -> bytes:
        image = WORDS.copy()
        ImageDraw.Draw(image).rectangle((150, 6, 300, 34), outline=(border, border, border))
        return screen((100, 100), image)

    recorded = field(40)
    for_keys = asked(recorded)
    assert for_keys.part is not None
    for_keys = for_keys.model_copy(
        update={"part": for_keys.part.model_copy(update={"for_keys": True})}
    )
    assert [each.line for each in looked_at(for_keys, field(40) + recorded).places] == [1.0]
    assert [each.line for each in looked_at(asked(recorded), field(160) + recorded).places] == [1.0]
    assert all(each.line < 1 for each in looked_at(for_keys, field(160) + recorded).places)


def field(
    text: str = "", *, ink: str = "#909090", pointer: bool = False, caret: bool = False
) -> bytes:
    image = WORDS.copy()
    draw = ImageDraw.Draw(image)
    draw.rectangle((150, 6, 300, 34), outline=ink, fill="#ffffff")
    draw.text((160, 13), text, fill="#202020")
    if caret:
        draw.line((156, 12, 156, 28), fill="#000000")
    if pointer:
        draw.line((225, 14, 225, 28), fill="#000000", width=2)
    return screen((100, 100), image)


def test_line_whose_boxes_are_drawn_otherwise_is_told_by_its_letters() -> None:
    recorded = field()
    places = looked_at(asked(recorded), field(ink="#2060c0", caret=True) + recorded).places
    assert [each.line for each in places] == [1.0]
    places = looked_at(asked(recorded), field("old", ink="#2060c0") + recorded).places
    assert all(each.line < 1 for each in places)


def test_text_that_was_typed_anew_is_left_out() -> None:
    before, recorded = field(), field("Ada")

    def lines(now: bytes, *, typed: bool) -> list[float]:
        question = asked(recorded)
        assert question.part is not None
        more = before + recorded if typed else b""
        lengths = ((len(before), len(recorded)),) if typed else ()
        part = question.part.model_copy(update={"typed": lengths})
        question = question.model_copy(update={"part": part})
        return [each.line for each in looked_at(question, now + recorded + more).places]

    now = field("Grace H")
    assert lines(now, typed=True) == [1.0]
    assert all(each < 1 for each in lines(now, typed=False))
    other = screen((100, 100), drawn("Order 4717", (320, 40)))
    assert all(each < 1 for each in lines(other, typed=True))


def test_pointer_that_rested_where_keys_go_to_is_left_out() -> None:
    recorded = field(pointer=True)
    question = asked(recorded)
    assert question.part is not None
    for rested, line in ((Place(x=325, y=121), 1.0), (None, 0.0)):
        part = question.part.model_copy(update={"for_keys": True, "rested": rested})
        places = looked_at(question.model_copy(update={"part": part}), field() + recorded).places
        assert (max((each.line for each in places), default=0.0) == 1.0) is (line == 1.0)


def test_part_at_the_edge_of_the_screen_is_not_all_there() -> None:
    recorded = screen((100, 100))
    core = Region(110, 100, 120, 40)
    question = asked(recorded, core=core, around=CORE)
    (place,) = looked_at(question, screen((-100, 100)) + recorded).places or (None,)
    assert place is None or place.around < 1.0


def test_what_is_not_there_is_nowhere_and_a_part_beside_the_picture_is_refused() -> None:
    recorded = screen((100, 100))
    assert looked_at(asked(recorded), screen((0, 0), drawn("x")) + recorded).places == ()
    blank = png(Image.new("RGB", (640, 400)))
    assert looked_at(asked(blank), recorded + blank).places == ()
    with pytest.raises(ValueError, match="beside the picture"):
        looked_at(asked(recorded, core=Region(900, 0, 10, 10)), recorded + recorded)
