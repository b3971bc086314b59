"""What a picture of a screen is, wherever it is spoken of."""

import math
from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple, Protocol, Self

from schemas.values.scalars import Fitting

PictureFormat = Literal["jpeg", "png", "webp"]

PictureId = Annotated[
    str, Fitting("[0-9a-f]{64}", "must be the picture's SHA-256: 64 digits 0 to 9 and a to f")
]
"""The SHA-256 of a picture's bytes."""

MAX_PICTURE_SIDE: Final = 16_384
"""Pixels."""

MAX_PICTURE_AREA: Final = 64 * 1024 * 1024
"""Pixels: seven screens of 4K."""


class Rectangle(Protocol):
    """Anything that has a place and a size, such as a display."""

    @property
    def x(self) -> int:
        """The left edge."""

    @property
    def y(self) -> int:
        """The upper edge."""

    @property
    def width(self) -> int:
        """Above zero."""

    @property
    def height(self) -> int:
        """Above zero."""


class Region(NamedTuple):
    """What part of the desktop a picture shows, in the pixels that inputs use."""

    x: int
    y: int
    width: int
    height: int

    @classmethod
    def around(cls, rectangles: Sequence[Rectangle]) -> Self:
        """The smallest one around some others, one at least."""
        left, top = min(each.x for each in rectangles), min(each.y for each in rectangles)
        right = max(each.x + each.width for each in rectangles)
        bottom = max(each.y + each.height for each in rectangles)
        return cls(left, top, right - left, bottom - top)


class Size(NamedTuple):
    """The size of a picture in its own pixels."""

    width: int
    height: int


def fitting(
    own: Size, width: int | None, height: int | None, longest: int = MAX_PICTURE_SIDE
) -> Size:
    """The largest size of the same aspect that fits, never larger than its own."""
    factor = min(
        1.0,
        min(width or own.width, longest) / own.width,
        min(height or own.height, longest) / own.height,
        math.sqrt(MAX_PICTURE_AREA / (own.width * own.height)),
    )
    return Size(max(1, int(own.width * factor)), max(1, int(own.height * factor)))
