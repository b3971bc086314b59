"""The messages about the elements of a machine's screen: what is asked, and what it shows.

A screen can have more elements than a message holds, and a program can be stuck, so an answer says
what it lacks.  Names and values are what programs say of themselves: they may be hostile.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.inputs.element_words import STATES
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import MAX_REF_LENGTH, Sought
from schemas.link.message import Message
from schemas.values.foreign_texts import ForeignText
from schemas.values.pictures import Region

MAX_ELEMENTS: Final = 1000
MAX_DEPTH: Final = 100
MAX_NAME: Final = 200
MAX_VALUE: Final = 500
"""Characters of a name and of a value that are told; what is left out is marked by an ellipsis."""

MAX_ELEMENTS_BYTES: Final = 192 * 1024
"""Of all elements of an answer together, as they are sent: less than one message may have."""

MAX_SILENT: Final = 16

MAX_COVERED: Final = 8
"""Parts of an element over which other windows lie."""

Truncation = Literal["limit", "size", "time"]
"""Why an answer does not have all that there is.

``limit``: it has as many as were asked for.  ``size``: it would be too long.  ``time``: looking
took too long.
"""


class ElementsQuery(Message):
    """Which elements does the screen show?

    ``at`` asks for those at a place, the innermost first, of the window that is on top there.
    ``depth`` is how many levels below its window an element may be.
    """

    type: Literal["elements_query"] = "elements_query"
    request: int = Field(ge=0, description="One of the numbers of ``screenshot``.")
    sought: Sought = Sought()
    at: Point | None = None
    limit: int = Field(ge=1, le=MAX_ELEMENTS)
    depth: Annotated[int, Field(ge=0, le=MAX_DEPTH)] | None = None
    server_time: int


class SeenElement(Message):
    """An element of the screen; ``bounds`` are in the desktop's pixels, null where nobody tells.

    ``covered`` are the parts of these over which other windows lie, so that a click there goes to
    something else.  A machine that is newer may know more roles and states than this server does,
    and one that is older tells of nothing that is covered.
    """

    role: str = Field(max_length=64)
    name: str = Field(max_length=MAX_NAME)
    value: str | None = Field(None, max_length=MAX_VALUE)
    states: list[Annotated[str, Field(max_length=32)]] = Field(max_length=2 * len(STATES))
    bounds: Region | None
    covered: list[Region] = Field([], max_length=MAX_COVERED)
    window: str = Field(max_length=MAX_NAME)
    application: str = Field(max_length=MAX_NAME)
    depth: int = Field(ge=0, le=MAX_DEPTH)
    ref: str = Field(max_length=MAX_REF_LENGTH)


class ElementsSeen(Message):
    """The answer to ``elements_query``: in the order in which they stand in their windows.

    ``silent`` are the programs that did not answer in time, whose elements are not here.
    """

    type: Literal["elements_seen"] = "elements_seen"
    request: int = Field(ge=0, lt=2**63)
    elements: list[SeenElement] = Field(max_length=MAX_ELEMENTS)
    truncated: Truncation | None = None
    silent: list[ForeignText] = Field([], max_length=MAX_SILENT)
