"""Pixels become the picture that was asked for."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from machine_client.desktop.base import DesktopError, RawFrame, Refusal
from machine_client.screen.encoding import WEBP_SIDE, encode, part_of
from schemas.inputs.pictures import Area, PictureWanted
from schemas.link.messages import Display, PictureOptions
from schemas.values.pictures import PictureFormat, Region, Size
from server.machines.link.questions.pictures import check_picture
from tests.pictures import decoded

RED, GREEN = b"\x10\x20\xf0\x00", b"\x10\xf0\x20\xff"


def frame(width: int = 60, height: int = 40) -> RawFrame:
    """A desktop whose left half is red and whose right half is green."""
    row = RED * (width // 2) + GREEN * (width // 2)
    size = Size(width, height)
    return RawFrame(Region(0, 0, *size), size, bytearray(row * height), 0.0)


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
@pytest.mark.parametrize(("width", "height"), [(None, None), (30, None), (None, 10), (6, 4)])
def test_picture_shows_the_pixels_and_passes_the_servers_check(
    form: PictureFormat, width: int | None, height: int | None
) -> None:
    content, size = encode(frame(), form, PictureOptions(width=width, height=height, quality=95))
    check_picture(form, size, content)
    image = decoded(content)
    assert image.size == size
    left, right = image.getpixel((1, 1)), image.getpixel((size.width - 2, 1))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[0] > 200 > left[1]
    assert right[1] > 200 > right[0]


@pytest.mark.parametrize("form", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("width", [None, 199])
def test_equal_pixels_are_equal_bytes_whoever_encodes_them_and_when(
    form: PictureFormat, width: int | None
) -> None:
    """So the server can tell by a picture's bytes whether the screen has changed."""
    other = noise()
    other.pixels[3::4] = bytes(len(other.pixels) // 4)  # The byte that says nothing.
    wanted = PictureWanted(width=width)
    with ThreadPoolExecutor(4) as pool:
        (same,) = set(pool.map(lambda each: encode(each, form, wanted), [noise(), other] * 4))
    other.pixels[0] ^= 0x80
    assert encode(other, form, wanted) != same


def noise() -> RawFrame:
    size = Size(320, 200)
    return RawFrame(Region(0, 0, *size), size, bytearray(Random(1).randbytes(320 * 200 * 4)), 0.0)


@pytest.mark.parametrize("scale", [1, 2])
def test_part_is_cut_out_at_the_screens_own_resolution(scale: int) -> None:
    size = Size(60 * scale, 40 * scale)
    row = RED * (30 * scale) + GREEN * (30 * scale)
    desktop = RawFrame(Region(-10, 5, 60, 40), size, bytearray(row * size.height), 0.0)
    shown = Region(10, 10, 20, 8)
    content, cut = encode(desktop, "png", PictureOptions(quality=80), shown)
    assert cut == (20 * scale, 8 * scale)
    image = decoded(content)
    assert image.getpixel((10 * scale - 1, 0)) == (0xF0, 0x20, 0x10)
    assert image.getpixel((10 * scale, 0)) == (0x20, 0xF0, 0x10)


@pytest.mark.parametrize(
    ("own", "region"),
    [
        (Size(30, 15), Region(19, 9, 1, 1)),
        (Size(30, 15), Region(0, 0, 1, 1)),
        (Size(10, 5), Region(0, 0, 1, 1)),
        (Size(10, 5), Region(0, 0, 20, 10)),
    ],
)
def test_smallest_part_of_a_screen_of_any_scale_is_a_pixel_of_it(own: Size, region: Region) -> None:
    paper = bytearray(b"\xff" * 4 * own.width * own.height)
    whole = RawFrame(Region(0, 0, 20, 10), own, paper, 0.0)
    content, _ = encode(whole, "png", PictureWanted(), region)
    # What lies beside the pixels would be black.
    assert decoded(content).convert("L").getextrema() == (255, 255)


def test_part_lies_within_the_desktop_or_is_refused() -> None:
    desktop = Region(-10, 5, 60, 40)
    displays = [Display(x=-10, y=5, width=30, height=40), Display(x=20, y=5, width=30, height=40)]
    inside = PictureWanted(region=Area(x=-10, y=5, width=60, height=40))
    assert part_of(desktop, inside, displays) == desktop
    assert part_of(desktop, PictureWanted(display=1), displays) == Region(20, 5, 30, 40)
    assert part_of(desktop, PictureWanted(), displays) == desktop
    for x, y, width, height in ((-11, 5, 9, 9), (-10, 4, 9, 9), (42, 5, 9, 9), (0, 37, 9, 9)):
        area = Area(x=x, y=y, width=width, height=height)
        with pytest.raises(Refusal) as caught:
            part_of(desktop, PictureWanted(region=area), displays)
        assert caught.value.outcome.loc == ("body", "region")
        assert "60 x 40 pixels from x -10, y 5 on" in caught.value.outcome.message
    with pytest.raises(Refusal, match="there is no display 2: the desktop has 2") as caught:
        part_of(desktop, PictureWanted(display=2), displays)
    assert caught.value.outcome.loc == ("body", "display")
    # One that came after the pixels were taken would be black.
    with pytest.raises(DesktopError, match="just changing"):
        part_of(Region(-10, 5, 30, 40), PictureWanted(display=1), displays)


@pytest.mark.parametrize("width", [1152, 1024, 960, 900, 800, 640])
def test_stroke_of_one_pixel_is_as_dark_wherever_it_lies(width: int) -> None:
    size = Size(1280, 4)
    darkness = []
    for place in range(100, 140):
        row = bytearray(b"\xff\xff\xff\x00" * size.width)
        row[place * 4 : place * 4 + 3] = b"\x00\x00\x00"
        paper = RawFrame(Region(0, 0, *size), size, row * size.height, 0.0)
        image = decoded(encode(paper, "png", PictureOptions(width=width, quality=80))[0])
        drawn = [255 - value for value in image.convert("L").crop((0, 0, width, 1)).tobytes()]
        darkness.append(sum(drawn))
        assert max(drawn) > 80
    # By Pillow's box filter it is twice as dark at some places as at others.
    assert max(darkness) < 1.25 * min(darkness)


@pytest.mark.parametrize("form", ["jpeg", "webp"])
def test_quality_is_that_of_the_options(form: PictureFormat) -> None:
    coarse, fine = (encode(noise(), form, PictureOptions(quality=each))[0] for each in (1, 95))
    assert len(coarse) < len(fine)


def test_webp_of_the_widest_screen_is_what_the_format_can_be() -> None:
    size = Size(16_384, 1)
    widest = RawFrame(Region(0, 0, *size), size, bytearray(4 * 16_384), 0.0)
    content, size = encode(widest, "webp", PictureWanted())
    assert size == (WEBP_SIDE, 1)
    check_picture("webp", size, content)


def test_frames_are_compared_by_what_they_show() -> None:
    one, other = frame(), frame()
    assert one.looks_like(other)
    other.pixels[0] += 1
    assert not one.looks_like(other)
    assert not one.looks_like(frame(40, 60))
    assert not one.looks_like(None)


def test_what_cannot_be_encoded_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("PIL.Image.frombuffer", fail)
    with pytest.raises(DesktopError, match="no room"):
        encode(frame(), "png", PictureOptions(quality=70))
