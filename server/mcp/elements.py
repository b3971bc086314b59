"""The tools that name what is on the screen, in the place of where it is."""

from typing import Annotated, Any, Final

from pydantic import Field

from farhand import actions
from farhand.actions import Button
from farhand.types import Area, Element
from schemas.values.strict import StrictModel
from server.mcp.arguments import AT, Coordinate, Input, Look
from server.mcp.desk import Desk, Said, View, done

MOST_FOUND: Final = 200
MOST_BY_ITSELF: Final = 50


class Meant(StrictModel):
    """What elements are like: the arguments of several tools.  The server says what is wrong."""

    role: str | None = Field(None, description="Such as push button, entry, check box or link.")
    element_name: str | None = Field(None, description="Its name; * is any text.")
    text: str | None = Field(None, description="A part of its name or value.")
    window: str | None = Field(None, description="Its window's title; * is any text.")

    @property
    def sought(self) -> dict[str, Any]:
        """The same as the library takes it."""
        return {
            "role": self.role,
            "name": self.element_name,
            "text": self.text,
            "window": self.window,
        }


class FindElements(Look, Meant):
    """List the buttons, fields and the like that the screen shows, as their programs tell of them.

    Not all programs tell. coordinate is the middle.
    """

    name = "find_elements"
    title = "Find elements"

    coordinate: Coordinate | None = Field(
        None, description=f"{AT}: what is there, the innermost first."
    )
    limit: Annotated[int, Field(ge=1, le=MOST_FOUND)] = Field(MOST_BY_ITSELF)

    async def do(self, desk: Desk) -> Said:
        view = await desk.view()
        at = None if self.coordinate is None else view.on_desktop(*self.coordinate)
        found = await desk.machine.elements(**self.sought, at=at, limit=self.limit)
        facts: dict[str, Any] = {"elements": [_told(each, view) for each in found.items]}
        if found.truncated is not None:
            facts["truncated"] = found.truncated
        if found.silent:
            facts["silent"] = found.silent
        return Said(facts)


class ClickElement(Input, Meant):
    """Click the one element that is like this, wherever it is; if none or several are, nothing.

    Safer than a coordinate where find_elements tells of it.
    """

    name = "click_element"
    title = "Click an element"

    ref: str | None = Field(None, description="Of find_elements, alone or with the rest.")
    button: Button = "left"
    clicks: Annotated[int, Field(ge=1, le=3)] = 1

    async def do(self, desk: Desk) -> Said:
        element = actions.element(**self.sought, ref=self.ref)
        action = actions.click(element=element, button=self.button, clicks=self.clicks)
        return done(await desk.machine.do(action, key=desk.key))


def _told(element: Element, view: View) -> dict[str, Any]:
    """An element without what says nothing."""
    told = {
        "role": element.role,
        "name": element.name,
        "value": element.value,
        "states": element.states,
        "coordinate": element.bounds and _middle(element.bounds, view),
        "window": element.window,
        "ref": element.ref,
    }
    return {name: said for name, said in told.items() if said}


def _middle(bounds: Area, view: View) -> list[int]:
    x, y = bounds.x + bounds.width // 2, bounds.y + bounds.height // 2
    return [*view.in_picture(x, y)]
