"""Parts of pictures blacked out, before anything else sees them."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PIL import Image, ImageDraw

from schemas.link.picture_frames import Picture
from schemas.values.pictures import Region

BLOCK: Final = 16
"""Pixels of a side: JPEG keeps so large parts together, and traces of one are all over it."""

BLEED: Final = 2
"""Pixels by which colours are smeared over the edges of blocks."""

QUALITY: Final = 85
"""A second encoding, at more than the first one had."""

MOST_PIXELS: Final = 64 * 1024 * 1024


def blackened(picture: Picture, covers: Sequence[Region]) -> Picture | None:
    """A picture without what is in these parts of the desktop; None where it cannot be read."""
    if (drawn := pixels_of(picture)) is None:
        return None
    draw = ImageDraw.Draw(drawn)
    for cover in covers:
        if (box := _box(cover, picture)) is not None:
            draw.rectangle(box, fill="black")
    return with_pixels(picture, drawn)


def pixels_of(picture: Picture) -> Image.Image | None:
    """What a picture shows, which a machine has made; None where it cannot be read."""
    if picture.size.width * picture.size.height > MOST_PIXELS:
        return None
    try:
        with Image.open(io.BytesIO(picture.content), formats=[picture.format.upper()]) as image:
            return image.convert("RGB") if image.size == tuple(picture.size) else None
    except (OSError, ValueError, SyntaxError):
        return None


def with_pixels(picture: Picture, drawn: Image.Image) -> Picture:
    """A picture that shows something else."""
    encoded = io.BytesIO()
    drawn.save(encoded, picture.format.upper(), quality=QUALITY)
    return replace(picture, content=encoded.getvalue())


def _box(cover: Region, picture: Picture) -> tuple[int, int, int, int] | None:
    """What of a picture shows a part of the desktop, in whole blocks and a little more."""
    shown, size = picture.region, picture.size
    across, down = size.width / shown.width, size.height / shown.height
    left = _before((cover.x - shown.x) * across)
    top = _before((cover.y - shown.y) * down)
    right = _behind((cover.x + cover.width - shown.x) * across)
    bottom = _behind((cover.y + cover.height - shown.y) * down)
    if right <= 0 or bottom <= 0 or left >= size.width or top >= size.height:
        return None
    return left, top, right - 1, bottom - 1


def _before(pixel: float) -> int:
    return int(pixel // BLOCK) * BLOCK - BLEED


def _behind(pixel: float) -> int:
    return -int(-pixel // BLOCK) * BLOCK + BLEED
