"""Where an input happens, and in which of its fields that stands."""

from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.values.pictures import MAX_PICTURE_SIDE, Size, fitting
from schemas.values.scalars import Coordinate, Int32
from schemas.values.strict import StrictModel
from schemas.values.validation_errors import Wrong, errors_of

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


def _is_none(value: object) -> bool:
    return value is None


class PictureSize(StrictModel):
    """The size of a picture of the whole desktop, or what it was made to fit into."""

    width: Annotated[Int32, Field(ge=1)] | None = Field(None, exclude_if=_is_none)
    height: Annotated[Int32, Field(ge=1)] | None = Field(None, exclude_if=_is_none)
    fit: Annotated[Int32, Field(ge=1, le=MAX_PICTURE_SIDE)] | None = Field(
        None,
        exclude_if=_is_none,
        description="In the place of both: what the screenshot was asked for with, as its width "
        "and its height alike.",
    )

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        sides = {"width": self.width, "height": self.height}
        if self.fit is None:
            wrong = [
                Wrong((name,), PydanticCustomError("missing", "Field required"), None)
                for name, side in sides.items()
                if side is None
            ]
        else:
            alone = PydanticCustomError("not_with_fit", "give width and height, or fit alone")
            wrong = [Wrong((name,), alone, side) for name, side in sides.items() if side]
        if wrong:
            raise errors_of(wrong)
        return self

    def of(self, desktop: Size) -> Size:
        """The picture's width and height, where the desktop has these."""
        if self.width is None or self.height is None:
            return fitting(desktop, self.fit, self.fit)
        return Size(self.width, self.height)

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
                (place.x_field, place.x, self.width or self.fit or 0),
                (place.y_field, place.y, self.height or self.fit or 0),
            )
            if not 0 <= pixel < length
        ]
