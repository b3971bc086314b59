"""Frames of pictures: what is packed is read back, and what is no frame is said to be none."""

import pytest

from schemas.link.picture_frames import (
    FRAME_BYTES,
    HEADER_BYTES,
    PictureFrameError,
    PictureKind,
    read_frame,
)
from schemas.values.pictures import Region, Size
from tests.pictures import header


@pytest.mark.parametrize("form", ["jpeg", "png"])
@pytest.mark.parametrize("kind", list(PictureKind))
def test_what_is_packed_is_read_back(kind: PictureKind, form: str) -> None:
    head = header(
        kind=kind,
        number=2**40,
        form=form,  # type: ignore[arg-type]
        size=Size(1, 16_384),
        region=Region(-1920, -7, 3840, 2160),
        total=2**31,
    )
    read, offset, part = read_frame(head.frame(2**30, b"content"))
    assert (read, offset, bytes(part)) == (head, 2**30, b"content")


def test_the_largest_frame_is_read_and_no_larger_one() -> None:
    frame = header().frame(0, b"x" * FRAME_BYTES)
    assert len(read_frame(frame)[2]) == FRAME_BYTES
    with pytest.raises(PictureFrameError, match="a binary frame has"):
        read_frame(frame + b"x")


@pytest.mark.parametrize(("place", "byte"), [(0, 0), (0, 2), (1, 0), (1, 4), (2, 3)], ids=str)
def test_unknown_version_kind_or_format_is_refused(place: int, byte: int) -> None:
    frame = bytearray(header().frame(0, b"x"))
    frame[place] = byte
    with pytest.raises(PictureFrameError, match="is not known"):
        read_frame(bytes(frame))


def test_header_alone_and_less_is_refused() -> None:
    frame = header().frame(0, b"x")
    for length in (0, 1, HEADER_BYTES):
        with pytest.raises(PictureFrameError, match="a binary frame has"):
            read_frame(frame[:length])


@pytest.mark.parametrize("side", [0, 100_000])
def test_side_that_no_screen_has_is_refused(side: int) -> None:
    for head in (header(size=Size(side, 1)), header(region=Region(0, 0, 1, side))):
        with pytest.raises(PictureFrameError, match="a side of"):
            read_frame(head.frame(0, b"x"))
