"""What a hand on a machine says and hears: events as they happen, over one websocket.

Whoever has control of a machine sends numbered batches of events; the server answers how far they
were carried out, and what was not.  All of it is refused that is not understood whole.  The names
of keys are those of `schemas.inputs.key_combinations`; places are pixels of the machine's desktop.
"""

from enum import IntEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, FailFast, Field
from pydantic_core import PydanticCustomError

from schemas.inputs.bodies import Button, Direction, OptionalPlace
from schemas.inputs.key_combinations import (
    MAX_NAME_LENGTH,
    checked_combination,
    parse_combination,
)
from schemas.inputs.texts import TypedText
from schemas.values.scalars import Coordinate, StrictBool
from schemas.values.strict import StrictModel

HAND_SUBPROTOCOL = "farhand.hand.v1"

MOST_EVENTS = 256
"""In one batch."""

MAX_NOTCHES = 100


class HandCloseCode(IntEnum):
    """Why a hand's websocket is closed.

    4000 to 4499 mean that the same hand may come back, while its lease lives; 4500 to 4999 that
    coming back the same way cannot help.
    """

    SERVER_STOPPING = 4000
    SERVER_ERROR = 4001
    SILENT = 4002
    REPLACED = 4500
    CONTROL_ENDED = 4501
    MESSAGE_INVALID = 4502
    OUT_OF_ORDER = 4503
    FLOOD = 4504


MAX_COMPOSED_LENGTH = 1000
"""Characters of a text: a hand's events are for what a person does at once."""


def _single(text: str) -> str:
    chords = parse_combination(checked_combination(text))
    if len(chords) != 1 or len(chords[0].keys) != 1:
        raise PydanticCustomError("one_key", "must name one key: each goes down and up by itself")
    return text


OneKey = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_single)]
"""The name of a key, or a character for whichever key makes it.

A longer text is refused before anything looks for keys in it.
"""


class Moved(StrictModel):
    """The pointer is at a place; those that wait are merged to one path with all of them."""

    type: Literal["move"]
    x: Coordinate
    y: Coordinate


class ButtonChanged(OptionalPlace):
    """A button of the mouse went down or up, at a place or where the pointer is."""

    type: Literal["button"]
    button: Button
    down: StrictBool


class WheelTurned(OptionalPlace):
    """The wheel was turned by so many notches."""

    type: Literal["wheel"]
    direction: Direction
    amount: Annotated[int, Field(strict=True, ge=1, le=MAX_NOTCHES)] = 1


class KeyChanged(StrictModel):
    """A key went down or up; a key that is down and goes down again is typed again."""

    type: Literal["key"]
    key: OneKey
    down: StrictBool


class TextComposed(StrictModel):
    """A text that no single key makes, such as that of an input method."""

    type: Literal["text"]
    text: Annotated[TypedText, Field(max_length=MAX_COMPOSED_LENGTH)]


HandEvent = Annotated[
    Moved | ButtonChanged | WheelTurned | KeyChanged | TextComposed, Field(discriminator="type")
]


class Batch(StrictModel):
    """What happened since the last one; the first has the sequence 1, and each the next."""

    sequence: Annotated[int, Field(strict=True, ge=1, lt=2**53)]
    # At the first event that is wrong, no other is looked at.
    events: Annotated[list[HandEvent], Field(max_length=MOST_EVENTS), FailFast()]


class Acknowledged(BaseModel):
    """Every event of this batch and of all before it has its end: carried out, or refused."""

    type: Literal["acknowledged"] = "acknowledged"
    sequence: int


class ButtonPlace(BaseModel):
    """A press of a button, and where it was meant, if that was said."""

    button: Button
    x: int | None
    y: int | None


class Undone(BaseModel):
    """What of a hand's events did not happen: presses of keys by their number alone."""

    moves: int = 0
    presses: list[ButtonPlace] = Field(default_factory=list)
    notches: int = 0
    keys: int = 0
    characters: int = 0


class Refused(BaseModel):
    """An event was not carried out, and nothing that waited behind it was sent.

    Whatever was held is released.  What is sent after this is taken anew.  ``problem`` is the name
    of a problem as an input over HTTP is answered with, ``sequence`` the batch of the event.
    """

    type: Literal["refused"] = "refused"
    sequence: int
    problem: str
    detail: str
    not_sent: Undone
