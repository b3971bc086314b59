"""Pixels become pictures: cut, scaled and encoded with Pillow, on the machine."""

import io
from collections.abc import Sequence
from typing import Protocol

from PIL import Image

from machine_client.desktop.base import DesktopError, RawFrame, Refusal
from schemas.inputs.outcomes import Refused
from schemas.inputs.pictures import Area
from schemas.link.messages import Display
from schemas.values.pictures import MAX_PICTURE_SIDE, PictureFormat, Region, Size, fitting

PNG_COMPRESSION = 3
"""Measured on a terminal's text: a third quicker than zlib's default, for half as much again."""

WEBP_METHOD = 1
"""Measured on a page of text of 1280 x 800: 18 ms and 67 KiB, where 4 takes 47 ms for 53 KiB."""

WEBP_SIDE = 16_383
"""Pixels; the format has 14 bits for a side."""


class Fineness(Protocol):
    """How large a picture may be, and how fine."""

    @property
    def width(self) -> int | None:
        """At most so many pixels; None is the screen's own."""

    @property
    def height(self) -> int | None:
        """At most so many pixels; None is the screen's own."""

    @property
    def quality(self) -> int:
        """Of JPEG and WebP, 1 to 95."""


class Part(Protocol):
    """What of a desktop a picture shows: everything, a region, or one display."""

    @property
    def region(self) -> Area | None:
        """In the pixels that inputs use."""

    @property
    def display(self) -> int | None:
        """Its place in the list of the displays."""


def encode(
    frame: RawFrame, form: PictureFormat, options: Fineness, shown: Region | None = None
) -> tuple[bytes, Size]:
    """A picture of a frame or of what is ``shown`` of it, no larger than asked for.

    Raises DesktopError.
    """
    try:
        image = Image.frombuffer("RGB", frame.size, frame.pixels, "raw", "BGRX", 0, 1)
        if shown is not None and shown != frame.region:
            image = image.crop(_box_of(shown, frame))
        own = Size(*image.size)
        longest = WEBP_SIDE if form == "webp" else MAX_PICTURE_SIDE
        size = fitting(own, options.width, options.height, longest)
        if size != own:
            # Of the filters that are quick, the one that leaves a stroke of one pixel as dark
            # wherever it lies.
            image = image.resize(size, Image.Resampling.BILINEAR)
        encoded = io.BytesIO()
        match form:
            case "png":
                image.save(encoded, "PNG", compress_level=PNG_COMPRESSION)
            case "webp":
                image.save(encoded, "WEBP", quality=options.quality, method=WEBP_METHOD)
            case "jpeg":
                image.save(encoded, "JPEG", quality=options.quality)
    except (OSError, ValueError, MemoryError) as error:
        raise DesktopError(
            "picture_failed", f"The screen's picture cannot be encoded: {error}"
        ) from error
    return encoded.getvalue(), size


def part_of(desktop: Region, wanted: Part, displays: Sequence[Display]) -> Region:
    """What a picture shows of a desktop.

    Raises Refusal where the desktop does not have it, and DesktopError where it is changing.
    """
    if (area := wanted.region) is not None:
        part = Region(area.x, area.y, area.width, area.height)
        if not _is_within(part, desktop):
            raise Refusal(
                Refused(
                    code="region_outside_desktop",
                    message=f"the region is not within the desktop, which is {desktop.width} x "
                    f"{desktop.height} pixels from x {desktop.x}, y {desktop.y} on",
                    loc=("body", "region"),
                    ctx={"desktop": desktop._asdict()},
                )
            )
        return part
    if (number := wanted.display) is None:
        return desktop
    if number >= len(displays):
        raise Refusal(
            Refused(
                code="display_unknown",
                message=f"there is no display {number}: the desktop has {len(displays)}, and the "
                "first is 0",
                loc=("body", "display"),
                ctx={"displays": len(displays)},
            )
        )
    found = displays[number]
    part = Region(found.x, found.y, found.width, found.height)
    if not _is_within(part, desktop):
        # The pixels were taken a moment before the displays were told.
        raise DesktopError("screen_unavailable", "The displays are just changing: ask again")
    return part


def _is_within(part: Region, desktop: Region) -> bool:
    return (
        desktop.x <= part.x
        and desktop.y <= part.y
        and part.x + part.width <= desktop.x + desktop.width
        and part.y + part.height <= desktop.y + desktop.height
    )


def _box_of(shown: Region, frame: RawFrame) -> tuple[int, int, int, int]:
    """What is shown, in a frame's own pixels."""
    scale_x = frame.size.width / frame.region.width
    scale_y = frame.size.height / frame.region.height
    left, top = shown.x - frame.region.x, shown.y - frame.region.y
    return (
        int(left * scale_x),
        int(top * scale_y),
        max(int(left * scale_x) + 1, round((left + shown.width) * scale_x)),
        max(int(top * scale_y) + 1, round((top + shown.height) * scale_y)),
    )
