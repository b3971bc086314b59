"""Where a part of a recorded picture is on a machine's screen."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.inputs.pictures import Area
from schemas.inputs.sights import Place
from schemas.values.pictures import PictureId
from server.dispatch.questions.question import Look, Reply
from server.dispatch.questions.texts import ANSWER_SECONDS
from server.vision.findings import MOST_PLACES, PlaceFound

MOST_TYPED: Final = 8
"""Texts that are known to be other ones now, the newest: each takes two pictures."""


class TypedText(BaseModel):
    """A text that a step typed: the kept pictures from before it and after it."""

    model_config = ConfigDict(frozen=True)

    before: PictureId
    after: PictureId


class PlacesFound(Reply):
    """Where it may be, the likeliest first; nowhere where there are none."""

    type: Literal["places_found"] = "places_found"
    places: Annotated[tuple[PlaceFound, ...], Field(max_length=MOST_PLACES)]


class FindRecorded(Look[PlacesFound]):
    """Where does the screen show now what a kept picture of the whole desktop shows in a part?

    The ``core`` is sought; how much of its ``line`` and of what is ``around`` it is there again is
    told.  ``scale`` is how much larger the screen is known to be than it was recorded.  With
    ``text_at`` it is the text that is sought that the kept picture shows there, in whatever font.
    ``for_keys`` is where keys go to: it has to look as it did also in what tells that they do, but
    for where the pointer ``rested``.  What was ``typed`` has been typed anew, with other values.
    """

    answer_seconds = ANSWER_SECONDS

    type: Literal["find_recorded"] = "find_recorded"
    picture: PictureId
    core: Area
    line: Area
    around: Area
    scale: float | None = None
    text_at: Place | None = None
    for_keys: bool = False
    rested: Place | None = None
    typed: Annotated[tuple[TypedText, ...], Field(max_length=MOST_TYPED)] = ()
