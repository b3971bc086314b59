"""What a picture of a screen is, wherever it is spoken of."""

from typing import Final, Literal, NamedTuple

PictureFormat = Literal["jpeg", "png", "webp"]

MAX_PICTURE_SIDE: Final = 16_384
"""Pixels."""


class Region(NamedTuple):
    """What part of the desktop a picture shows, in the pixels that inputs use."""

    x: int
    y: int
    width: int
    height: int


class Size(NamedTuple):
    """The size of a picture in its own pixels."""

    width: int
    height: int
