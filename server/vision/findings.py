"""What is asked about a picture of a screen, and what was found in it."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from schemas.inputs.sights import PictureShown, SeenTexts, TextShown
from schemas.values.pictures import Region, Size

MOST_TEXTS: Final = 2000
"""Of one picture; a dense screen has some 150."""

LONGEST_TEXT: Final = 500


class _Said(BaseModel):
    """Something that the server and its processes tell each other."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Question(_Said):
    """What is to be seen of some conditions in a picture, or, without any, which texts it has.

    The first of the conditions that is met is told, by its number; ``region`` is what of the
    desktop the picture shows, and ``size`` its own pixels.
    """

    conditions: tuple[tuple[int, TextShown | PictureShown], ...] = ()
    region: Region
    size: Size


class TextFound(_Said):
    """A line that was read; ``score`` is how sure the reader is, up to 1."""

    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    score: float
    at: Region


class Findings(_Said):
    """What was found; ``seen`` are the texts nearest to those that were sought in vain."""

    matched: int | None = None
    at: Region | None = None
    seen: SeenTexts = ()
    texts: Annotated[tuple[TextFound, ...], Field(max_length=MOST_TEXTS)] = ()
    failed: str | None = None
