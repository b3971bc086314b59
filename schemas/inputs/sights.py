"""What is sought in what a screen shows: a text or a picture.

It is judged on the node that the machine is connected to, in frames that the machine shows it.
"""

from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.pictures import Area
from schemas.values.scalars import Coordinate, StrictBool
from schemas.values.strict import StrictModel

MAX_SHOWN_TEXT: Final = 200
"""Characters: a line of a screen."""

MAX_SHOWN_PICTURE_BYTES: Final = 64 * 1024
"""Of all pictures that one request waits for: they go to the machine with its conditions."""

MAX_PICTURE_CHARACTERS: Final = 4 * (MAX_SHOWN_PICTURE_BYTES // 3 + 1)
"""The same in Base64."""

MAX_SEEN: Final = 8
"""Texts that are told at the end of a wait which did not see its own."""


SeenTexts = Annotated[
    tuple[Annotated[str, Field(max_length=MAX_SHOWN_TEXT)], ...], Field(max_length=MAX_SEEN)
]


class Looked(StrictModel):
    """Where is looked."""

    region: Area | None = Field(None, description="Look at this part of the desktop alone.")


class TextShown(Looked):
    """A text stands on the screen, as it is written; spaces do not count.

    Reading is no proof: O and 0, l and 1 look alike to it.
    """

    text: Annotated[str, Field(min_length=1, max_length=MAX_SHOWN_TEXT)] = Field(
        description="Within one line; what is written otherwise, or in part, is not it."
    )
    gone: StrictBool = Field(False, description="Wait until it is there no more.")

    @field_validator("text")
    @classmethod
    def _check_text(cls, text: str, info: ValidationInfo) -> str:
        letters = "".join(text.split())
        if not letters or not text.isprintable():
            raise PydanticCustomError(
                "text_unreadable", "a text to wait for is one line with something to read in it"
            )
        if len(letters) == 1 and info.data.get("region") is None:
            raise PydanticCustomError(
                "text_too_short", "a text of one character needs a region to look for it in"
            )
        return text


class Place(StrictModel):
    """A place on the desktop, in the pixels that inputs use."""

    x: Coordinate
    y: Coordinate


class PictureShown(Looked):
    """A picture of a part of a screen is to be seen on it, as large, or a quarter more or less."""

    picture: Annotated[str, Field(min_length=1, max_length=MAX_PICTURE_CHARACTERS)] = Field(
        description="The id of a kept picture, or a PNG or JPEG picture in Base64."
    )
    near: Place | None = Field(
        None,
        description="Where its middle was when it was taken. Of several the one that is near it "
        "counts; without one near it, several are none.",
    )
    similarity: Annotated[float, Field(strict=True, ge=0.7, le=1, allow_inf_nan=False)] = Field(
        0.9, description="How alike it must be; 1 is the same picture."
    )
    gone: StrictBool = Field(False, description="Wait until it is there no more.")


Sighted = TextShown | PictureShown
"""What a machine's node judges."""
