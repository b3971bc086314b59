"""Nothing of what was in a part that is blacked out is left, and the rest stays as it was."""

import io
import random

from PIL import Image

from schemas.link.picture_frames import Picture
from schemas.values.pictures import PictureFormat, Region, Size
from server.dispatch.recording.painting.blackening import blackened

SIZE = Size(160, 96)
WHOLE = Region(0, 0, *SIZE)
COVER = Region(40, 30, 21, 13)


def noisy(form: PictureFormat, inside: int, shown: Region = WHOLE) -> Picture:
    """A picture with noise in the part that is covered, which starts with this."""
    image = Image.new("RGB", SIZE, "white")
    numbers = random.Random(inside)
    for x in range(40, 61):
        for y in range(30, 43):
            image.putpixel((x, y), (numbers.randrange(256), 0, 0))
    content = io.BytesIO()
    image.save(content, form, quality=70)
    return Picture(form, content.getvalue(), SIZE, shown, 1000)


def image_of(picture: Picture | None) -> Image.Image:
    assert picture is not None
    with Image.open(io.BytesIO(picture.content)) as image:
        assert image.format == picture.format.upper()
        image.load()
        return image.copy()


def test_whatever_was_covered_the_picture_is_the_same() -> None:
    for form in ("jpeg", "png", "webp"):
        one, other = (blackened(noisy(form, inside), [COVER]) for inside in (1, 2))
        assert one is not None
        assert other is not None
        assert noisy(form, 1).content != noisy(form, 2).content
        assert one.content == other.content, form
        image = image_of(one).convert("1", dither=Image.Dither.NONE)
        assert image.crop((40, 30, 61, 43)).getcolors() == [(21 * 13, 0)]
        assert image.crop((100, 0, 160, 96)).getcolors() == [(60 * 96, 255)]


def test_cover_is_scaled_as_the_picture_is() -> None:
    shown = Region(-320, 0, 320, 192)
    covered = Region(-320 + 80, 60, 42, 26)
    one, other = (blackened(noisy("png", inside, shown), [covered]) for inside in (1, 2))
    assert one is not None
    assert other is not None
    assert one.content == other.content


def test_cover_beyond_the_picture_changes_nothing() -> None:
    picture = noisy("png", 1)
    beyond = blackened(picture, [Region(500, 500, 10, 10), Region(-90, 0, 20, 20)])
    assert image_of(beyond).tobytes() == image_of(picture).tobytes()
    whole = blackened(picture, [Region(-10, -10, 1000, 1000)])
    assert image_of(whole).getextrema() == ((0, 0),) * 3


def test_picture_that_cannot_be_read_is_none() -> None:
    good = noisy("png", 1)
    for content, size in ((b"none", SIZE), (good.content[:90], SIZE), (good.content, Size(1, 1))):
        assert blackened(Picture("png", content, size, Region(0, 0, 9, 9), 1), [COVER]) is None
    huge = Picture("png", good.content, Size(60_000, 60_000), Region(0, 0, 9, 9), 1)
    assert blackened(huge, [COVER]) is None
