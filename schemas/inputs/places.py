"""Where an input happens, and in which of its fields that stands."""

from typing import Annotated, NamedTuple

from pydantic import Field
from pydantic_core import PydanticCustomError

from schemas.values.scalars import Coordinate, Int32
from schemas.values.strict import StrictModel
from schemas.values.validation_errors import Wrong

Where = tuple[str | int, ...]


class PathPoint(StrictModel):
    """A place that the pointer passes on its way."""

    x: Coordinate
    y: Coordinate


class Place(NamedTuple):
    """A place that an input names, and the fields that name it."""

    x: int
    y: int
    x_field: Where
    y_field: Where


class PictureSize(StrictModel):
    """The size of a picture of the whole desktop."""

    width: Annotated[Int32, Field(ge=1)]
    height: Annotated[Int32, Field(ge=1)]

    def beside(self, place: Place) -> list[Wrong]:
        """What is wrong with a place that should be one of its pixels."""
        return [
            Wrong(
                where,
                PydanticCustomError(
                    "outside_picture",
                    "must be within the picture that in tells of, whose pixels are 0 to {last}",
                    {"last": length - 1},
                ),
                pixel,
            )
            for where, pixel, length in (
                (place.x_field, place.x, self.width),
                (place.y_field, place.y, self.height),
            )
            if not 0 <= pixel < length
        ]
