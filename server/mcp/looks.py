"""The tools that look at a machine, one class for each: its arguments, and what it does."""

import base64
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from farhand import actions
from farhand.types import Area
from server.mcp.arguments import Look, Seconds
from server.mcp.desk import LONGEST, Desk, Picture, Said, View

Edge = Annotated[int, Field(strict=True, ge=0, le=LONGEST)]


class Screenshot(Look):
    """See the machine's screen. Other tools take places in this picture's pixels."""

    name = "screenshot"
    title = "Take a screenshot"

    async def do(self, desk: Desk) -> Said:
        return await pictured(desk, None)


class Zoom(Look):
    """See a part of the screen in full detail.

    Places of other tools stay pixels of the whole screenshot, not of this picture.
    """

    name = "zoom"
    title = "Look closer"

    region: Annotated[list[Edge], Field(min_length=4, max_length=4)] = Field(
        description="[left, top, right, bottom] in pixels of the last screenshot."
    )

    @model_validator(mode="after")
    def _is_not_empty(self) -> "Zoom":
        left, top, right, bottom = self.region
        if right <= left or bottom <= top:
            raise PydanticCustomError(
                "region_empty", "region is [left, top, right, bottom]: right and bottom are larger"
            )
        return self

    async def do(self, desk: Desk) -> Said:
        view = await desk.view()
        left, top = view.on_desktop(*self.region[:2])
        right, bottom = view.on_desktop(*self.region[2:])
        return await pictured(desk, (left, top, max(1, right - left), max(1, bottom - top)))


async def pictured(desk: Desk, region: tuple[int, int, int, int] | None) -> Said:
    """A picture of the screen, or of a region in the desktop's pixels."""
    taken = await desk.machine.screenshot(width=LONGEST, height=LONGEST, region=region)
    content = base64.b64encode(taken.data).decode()
    return Said({"width": taken.width, "height": taken.height}, [Picture(content, taken.format)])


class CursorPosition(Look):
    """Find out where the pointer is, in pixels of the screenshot."""

    name = "cursor_position"
    title = "Find the pointer"

    async def do(self, desk: Desk) -> Said:
        place = await desk.machine.pointer()
        x, y = (await desk.view()).in_picture(place.x, place.y)
        return Said({"x": x, "y": y})


class WaitFor(Look):
    """Wait until the screen has changed, until it is still, or until it shows a text or an element.


    Of several the first ends the wait. A text is read as it is written, in whole words; where it
    does not come, seen has the texts most like it. A blinking caret is still. Use it after what
    takes time, in place of wait.
    """

    name = "wait_for"
    title = "Wait for the screen"

    still: Annotated[float, Field(ge=0.1, le=10)] | None = Field(
        None, description="For so many seconds nothing has changed."
    )
    changed: bool = Field(False, description="Something has changed.")
    text: Annotated[str, Field(min_length=2, max_length=200)] | None = Field(
        None, description="This text stands on the screen, such as Saved."
    )
    role: str | None = Field(None, description="An element is there, as find_elements lists it.")
    element_name: str | None = Field(None, description="Its name; * is any text.")
    timeout: Seconds = Field(30, le=120, description="Seconds to wait at most.")

    @model_validator(mode="after")
    def _waits_for_something(self) -> "WaitFor":
        if self.still is None and not (self.changed or self.text or self._element):
            raise PydanticCustomError(
                "nothing_wanted",
                "give still, such as 0.5, changed: true, a text, or a role or element_name",
            )
        return self

    @property
    def _element(self) -> dict[str, str]:
        return actions.element(self.role, self.element_name)

    async def do(self, desk: Desk) -> Said:
        wanted: dict[str, Any] = {
            "still": self.still,
            "changed": self.changed,
            "text": self.text,
            "element": self._element or None,
        }
        names = [name for name in wanted if wanted[name]]
        seen = await desk.machine.wait(**wanted, timeout=self.timeout)
        matched = None if seen.matched is None else names[seen.matched]
        facts: dict[str, Any] = {"matched": matched, "elapsed": seen.elapsed}
        if self.text is not None and matched is None:
            facts["seen"] = seen.seen
        if matched == "text" and seen.at is not None:
            facts |= _middle(await desk.view(), seen.at)
        return Said(facts)


class ReadTexts(Look):
    """Read the texts on the screen, each with the place of its middle.

    Places are pixels of the last screenshot. Letters that look alike, such as O and 0, may be taken
    for one another.
    """

    name = "read_texts"
    title = "Read the screen"

    async def do(self, desk: Desk) -> Said:
        texts, view = await desk.machine.texts(), await desk.view()
        lines = [{"text": each.text, **_middle(view, each.at)} for each in texts]
        return Said({"texts": lines})


def _middle(view: View, at: Area) -> dict[str, int]:
    """The middle of a part of the desktop, in pixels of the screenshot."""
    x, y = view.in_picture(at.x + at.width // 2, at.y + at.height // 2)
    return {"x": x, "y": y}


class ClipboardRead(Look):
    """Read the text that was copied last on the machine."""

    name = "clipboard_read"
    title = "Read the clipboard"

    async def do(self, desk: Desk) -> Said:
        return Said({"text": await desk.machine.read_clipboard()})
