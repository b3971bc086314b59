"""How a picture of the screen is wanted: what it shows, how large, and in which format."""

from typing import Annotated, Protocol, TypeVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values.pictures import MAX_PICTURE_SIDE, PictureFormat
from schemas.values.scalars import Coordinate, StrictBool
from schemas.values.strict import StrictModel

Side = Annotated[int, Field(strict=True, ge=1, le=MAX_PICTURE_SIDE)]
Quality = Annotated[int, Field(strict=True, ge=1, le=95)]


class Area(StrictModel):
    """A rectangle of the desktop, in the pixels that inputs use."""

    x: Coordinate
    y: Coordinate
    width: Annotated[int, Field(strict=True, ge=1, le=4 * MAX_PICTURE_SIDE)]
    height: Annotated[int, Field(strict=True, ge=1, le=4 * MAX_PICTURE_SIDE)]


class ShowsPart(Protocol):
    """What can show a part of the desktop."""

    region: Area | None
    display: int | None


Wanted = TypeVar("Wanted", bound=ShowsPart)


def check_shows_one_thing(wanted: Wanted) -> Wanted:
    """Check that a region or a display is wanted, or neither; as a validator."""
    if wanted.region is not None and wanted.display is not None:
        raise PydanticCustomError(
            "region_and_display", "give a region or a display, or neither; not both"
        )
    return wanted


class PictureWanted(StrictModel):
    """A picture of all displays, of one of them, or of a part of the desktop.

    It is at the screen's own resolution, or made smaller to fit.
    """

    format: PictureFormat = "png"
    width: Side | None = Field(None, description="At most so many pixels; the screen's own.")
    height: Side | None = Field(None, description="At most so many pixels; the screen's own.")
    quality: Quality = Field(80, description="Of JPEG and WebP.")
    region: Area | None = Field(
        None, description="Only this part of the desktop, which must lie within it."
    )
    display: Annotated[int, Field(strict=True, ge=0, le=63)] | None = Field(
        None, description="Only this display, by its place in the list of the dimensions."
    )
    pointer: StrictBool = Field(True, description="Whether the mouse pointer is on it.")

    _shows_one_thing = model_validator(mode="after")(check_shows_one_thing)
