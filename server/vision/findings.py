"""What is asked about a picture of a screen, and what was found in it."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from schemas.inputs.sights import PictureShown, Place, SeenTexts, TextShown
from schemas.values.pictures import Region, Size

MOST_TEXTS: Final = 2000
"""Of one picture; a dense screen has some 150."""

LONGEST_TEXT: Final = 500
MOST_PLACES: Final = 16


class _Said(BaseModel):
    """Something that the server and its processes tell each other."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Part(_Said):
    """A part of a recorded picture, sought in another.

    ``picture`` is what the recorded picture shows, and ``length`` how many of the bytes are its
    own, behind those of the other one.  The ``core`` is what is sought; all of its ``line`` has to
    be as it was, and how much of what is ``around`` it is, is told.  With ``text_at`` it is not the
    picture that is sought, but the text that it shows there.  ``for_keys`` is where keys go to,
    which is told by how strongly its edges are drawn, but for where the pointer ``rested``.
    ``typed`` are the lengths of two further pictures each, behind the recorded one, from before and
    after a text was typed, which is another one now.
    """

    picture: Region
    length: Annotated[int, Field(ge=1)]
    core: Region
    line: Region
    around: Region
    scale: float | None = None
    text_at: Place | None = None
    for_keys: bool = False
    rested: Place | None = None
    typed: tuple[tuple[int, int], ...] = ()

    def taken_apart(self, content: bytes) -> tuple[bytes, bytes, list[tuple[bytes, bytes]]]:
        """The picture that is looked at, the recorded one, and those of what was typed."""
        end, pairs = len(content), list[tuple[bytes, bytes]]()
        for before, after in reversed(self.typed):
            middle = end - after
            pairs.insert(0, (content[middle - before : middle], content[middle:end]))
            end = middle - before
        start = end - self.length
        return content[:start], content[start:end], pairs


class PlaceFound(_Said):
    """Where a part of a recorded picture may be, and how much of it is there again, up to 1.

    ``at`` is where the core is, which is ``scale`` times as large as it was.  Of a text ``was`` is
    where it stood in the recorded picture.
    """

    at: Region
    scale: float
    similarity: float
    line: float
    around: float
    was: Region | None = None


class Question(_Said):
    """What is to be seen of some conditions in a picture, or, without any, which texts it has.

    With a ``part`` it is where that may be, and nothing else.

    The first of the conditions that is met is told, by its number; ``region`` is what of the
    desktop the picture shows, and ``size`` its own pixels.
    """

    conditions: tuple[tuple[int, TextShown | PictureShown], ...] = ()
    region: Region
    size: Size
    part: Part | None = None


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
    places: Annotated[tuple[PlaceFound, ...], Field(max_length=MOST_PLACES)] = ()
    failed: str | None = None
