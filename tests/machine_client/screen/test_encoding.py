"""Pixels become the picture that was asked for."""

import pytest

from machine_client.desktop.base import DesktopError, RawFrame
from machine_client.screen.encoding import encode, fitting
from schemas.link.messages import PictureOptions
from schemas.link.picture_frames import PictureFormat, Region, Size
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


def test_quality_is_that_of_the_options() -> None:
    coarse, fine = (encode(frame(), "jpeg", PictureOptions(quality=each))[0] for each in (1, 95))
    assert len(coarse) < len(fine)


@pytest.mark.parametrize(
    ("own", "width", "height", "fits"),
    [
        ((1280, 800), None, None, (1280, 800)),
        ((1280, 800), 4000, 4000, (1280, 800)),
        ((1280, 800), 640, None, (640, 400)),
        ((1280, 800), None, 80, (128, 80)),
        ((1280, 800), 640, 80, (128, 80)),
        ((1280, 800), 1, 1, (1, 1)),
        ((1366, 768), 640, 640, (640, 359)),
        ((20_000, 1), None, None, (16_384, 1)),
        ((16_384, 16_384), None, None, (8192, 8192)),
    ],
)
def test_aspect_is_kept_and_nothing_is_enlarged(
    own: tuple[int, int], width: int | None, height: int | None, fits: tuple[int, int]
) -> None:
    assert fitting(Size(*own), width, height) == fits


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
