"""Where a later picture shows what was typed, and the room for another text."""

from PIL import ImageDraw

from server.vision.looking import pixels
from server.vision.looking.pixels import Pixels
from server.vision.looking.typed import rooms_of
from tests.signs import drawn, png

FIELD = 120, 20, 360, 60


def form(text: str = "", *, caret: bool = False, other: str = "Remarks") -> Pixels:
    image = drawn("Customer", (640, 80))
    draw = ImageDraw.Draw(image)
    draw.rectangle(FIELD, outline="#909090", fill="#ffffff")
    draw.text((380, 34), other, fill="#202020")
    draw.text((130, 34), text, fill="#202020")
    if caret:
        draw.line((170, 30, 170, 46), fill="#000000")
    return pixels.decoded(png(image))


def test_room_of_a_text_is_its_field() -> None:
    (room,) = rooms_of([(form(caret=True), form("Ada L"))], form("Ada L", caret=True))
    assert FIELD[0] < room.x <= 130
    assert 300 < room.x + room.width <= FIELD[2]
    assert FIELD[1] < room.y < 34
    assert 44 < room.y + room.height < FIELD[3]


def test_text_that_is_not_there_any_more_has_no_room() -> None:
    typed = form(), form("Ada L")
    assert rooms_of([typed], form()) == []
    assert rooms_of([typed], form("Grace H")) == []
    smaller = typed[0], typed[1][:70]
    assert rooms_of([smaller], form("Ada L")) == []


def test_what_is_higher_than_a_line_is_no_text() -> None:
    one = form()
    other = one.copy()
    other[10:70, 130:200] = 0
    assert rooms_of([(one, other)], other) == []
