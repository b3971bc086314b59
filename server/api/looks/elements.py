"""The elements of a machine's screen: what its programs tell of buttons, fields and the like."""

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from schemas.http import problems
from schemas.http.queries import IntegerText
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import Area
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import MAX_DEPTH, MAX_ELEMENTS
from schemas.resources.elements import Element, Elements
from schemas.resources.tokens import Scope
from schemas.values.pictures import Region
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.looks import LookedAt
from server.dispatch.questions.elements import ElementsFound, FindElements
from server.web.endpoint import Endpoint

DEFAULT_LIMIT: Final = 200

MOST_OF_A_TOKEN: Final = 16
"""Questions about elements at once on one node."""

_PLACE = re.compile(r"-?[0-9]{1,9},-?[0-9]{1,9}", re.ASCII)


def _place(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if not _PLACE.fullmatch(text):
        raise PydanticCustomError("place_malformed", "a place is x,y in pixels, such as 640,360")
    return dict(zip("xy", map(int, text.split(",")), strict=True))


PlaceText = Annotated[Point, WithJsonSchema({"type": "string"})]


class ElementsQuery(Sought):
    """Which elements are wanted: all that is given must be so of each."""

    at: Annotated[PlaceText | None, BeforeValidator(_place)] = Field(
        None, description="x,y: only those at this place of the desktop, the innermost first."
    )
    limit: Annotated[int, Field(ge=1, le=MAX_ELEMENTS), IntegerText] = Field(
        DEFAULT_LIMIT, description="So many at most."
    )
    depth: Annotated[int, Field(ge=0, le=MAX_DEPTH), IntegerText] | None = Field(
        None, description="At most so many levels below its window, which is 0."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        """An empty value means null in every query."""
        return {name: said for name, said in given.items() if said not in ("", "null")}

    @property
    def sought(self) -> Sought:
        """What they are like."""
        return Sought.model_validate(self.model_dump(include={*Sought.model_fields}))


class ElementsHandler(AskingHandler):
    @Endpoint(
        summary="Find elements",
        description="What the programs on the screen tell of their buttons, fields and the like: "
        "those that can be seen, from the outside to the inside.  In name, value, window and "
        "application * is any text and ? any character.  A long list is cut, and truncated says "
        "why.",
        scope=Scope.SCREEN_READ,
        path=MachinePath,
        query=ElementsQuery,
        answers={200: Elements},
        problems=(
            problems.NOT_FOUND,
            problems.MACHINE_BUSY,
            problems.MACHINE_UNAVAILABLE,
            problems.NO_ELEMENTS,
            problems.TOO_MANY_STREAMS,
        ),
    )
    async def get(self, path: MachinePath, query: ElementsQuery) -> None:
        question = FindElements(
            **self.looking_at(path.machine_id),
            sought=query.sought,
            at=query.at,
            limit=query.limit,
            depth=query.depth,
        )
        asking = self.services.machines.element_questions
        with self.place_among(asking, MOST_OF_A_TOKEN, "questions about elements"):
            found = await self.look(question, LookedAt.ELEMENTS)
        self.answer(200, _elements(found))


def _elements(found: ElementsFound) -> Elements:
    """All of it was checked before."""
    items = [
        Element.model_construct(
            **{**dict(element), "bounds": _area(element.bounds)}, selector=selector.model_dump()
        )
        for element, selector in zip(found.elements, found.selectors, strict=True)
    ]
    return Elements(items=items, truncated=found.truncated, silent=found.silent)


def _area(bounds: Region | None) -> Area | None:
    return None if bounds is None else Area.model_construct(**bounds._asdict())
