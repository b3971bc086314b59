"""Which elements a machine's screen shows: what programs tell of buttons, fields and the like."""

from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_DEPTH, MAX_ELEMENTS, SeenElement, Truncation
from server.dispatch.questions.question import Look, Refusal, Reply
from server.dispatch.refusals import no_elements

ANSWER_SECONDS: Final = 15.0
"""For a machine to answer, which gives up its programs far sooner."""


class ElementsFound(Reply):
    """What there is; each of the ``selectors`` finds the element at its place, and no other.

    Why these are not all is ``truncated``, and ``silent`` are the programs that did not answer.
    """

    type: Literal["elements_found"] = "elements_found"
    elements: list[SeenElement]
    selectors: list[Selector]
    truncated: Truncation | None
    silent: list[str]


class FindElements(Look[ElementsFound]):
    """Which elements does the screen show that are like this, or that are at a place?"""

    # Several may be asked for once more, each on its own.
    answer_seconds = 2 * ANSWER_SECONDS + 1.0

    type: Literal["find_elements"] = "find_elements"
    sought: Sought
    at: Point | None
    limit: Annotated[int, Field(ge=1, le=MAX_ELEMENTS)]
    depth: Annotated[int, Field(ge=0, le=MAX_DEPTH)] | None

    def lost(self) -> Refusal:
        """There may be some; nobody says which."""
        return no_elements("its node did not answer in time", None)
