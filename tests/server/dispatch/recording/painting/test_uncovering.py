"""The pointer is taken off a picture by an earlier one, and nothing else of that is taken."""

import io

import pytest
from PIL import Image, ImageDraw

from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region, Size
from server.dispatch.recording.painting.uncovering import uncovered
from tests.signs import drawn

SIZE = Size(640, 400)
PLACE = 1240, 105
"""On the desktop, of which the pictures show a part that begins at 1000, 0."""


def taken(
    pointer: tuple[int, int], *, button: str = "#f0f0f0", row: str = "Order 4711", x: int = 1000
) -> Picture:
    """A line with a button in it, and the pointer somewhere."""
    image = Image.new("RGB", SIZE, "#f0f0f0")
    image.paste(drawn(row, (120, 40)), (40, 85))
    draw = ImageDraw.Draw(image)
    draw.rectangle((200, 90, 280, 120), fill=button, outline="#404040")
    draw.text((220, 100), "Delete", fill="#202020")
    draw.polygon(
        [pointer, (pointer[0] + 12, pointer[1] + 12), (pointer[0], pointer[1] + 18)], "red"
    )
    file = io.BytesIO()
    image.save(file, "JPEG", quality=70)
    return Picture("jpeg", file.getvalue(), SIZE, Region(x, 0, *SIZE), 0)


def reds(picture: Picture) -> int:
    """How many pixels of the pointer are on it."""
    with Image.open(io.BytesIO(picture.content)) as image:
        pixels = image.convert("RGB").tobytes()
    return sum(
        red > 180 and green < 100 for red, green in zip(pixels[::3], pixels[1::3], strict=True)
    )


def pixel(picture: Picture, place: tuple[int, int]) -> int:
    with Image.open(io.BytesIO(picture.content)) as image:
        found = image.convert("L").getpixel(place)
    assert isinstance(found, int)
    return found


ELSEWHERE = taken((500, 300))


def test_pointer_is_gone_and_what_was_below_it_is_there() -> None:
    shown = taken((240, 105))
    found = uncovered(shown, [ELSEWHERE], PLACE)
    assert reds(shown) > 50
    assert reds(found) == 0
    assert (found.format, found.size, found.region) == (shown.format, SIZE, shown.region)


def test_button_below_it_is_as_without_it() -> None:
    found = uncovered(taken((240, 105), button="#a0c0ff"), [ELSEWHERE], PLACE)
    assert pixel(found, (205, 95)) > 230


def test_first_picture_that_fits_is_taken() -> None:
    others = [taken((240, 105)), taken((500, 300), x=0), ELSEWHERE]
    assert reds(uncovered(taken((240, 105)), others, PLACE)) == 0


@pytest.mark.parametrize(
    "earlier",
    [
        taken((500, 300), row="Order 4799"),
        taken((500, 300), x=0),
        Picture("jpeg", b"no picture", SIZE, Region(1000, 0, *SIZE), 0),
    ],
    ids=["another line", "another part", "unreadable"],
)
def test_picture_stays_where_the_earlier_one_shows_something_else(earlier: Picture) -> None:
    shown = taken((240, 105))
    assert uncovered(shown, [earlier], PLACE) is shown


def test_unreadable_picture_stays() -> None:
    broken = Picture("jpeg", b"no picture", SIZE, Region(1000, 0, *SIZE), 0)
    assert uncovered(broken, [ELSEWHERE], PLACE) is broken
