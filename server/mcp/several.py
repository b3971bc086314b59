"""The tool for several actions at once."""

from typing import Annotated, Any

from pydantic import Field

from farhand.types import ActionsResult, PictureContent
from server.mcp.arguments import Input
from server.mcp.desk import LONGEST, Desk, Picture, Said, done, in_screenshot

PICTURE = {"format": "png", "width": LONGEST, "height": LONGEST, "settle": 0.3}


class Actions(Input):
    """Do several things in a row as one call, which is quicker and happens at most once as a whole.

    It stops at the first action that fails. Each action has an operation and its fields:
    mouse.click {x, y, button?, clicks?, modifiers?}, mouse.move {x, y},
    mouse.drag {start_x, start_y, to_x, to_y}, mouse.scroll {direction, amount, x?, y?},
    keyboard.key {text, repeat?, hold?}, keyboard.type {text}, clipboard.write {text},
    element.invoke {element}, element.focus {element}, element.set_value {element, value},
    wait {seconds}, wait_for {any: [{still: 0.5}, {changed: true} or {element}], timeout?}. element,
    also in the place of x and y, is {role?, name?, text?, window?, ref?}.
    """

    name = "actions"
    title = "Do several things"

    actions: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=50)] = Field(
        description='Such as [{"operation": "mouse.click", "x": 640, "y": 360}, '
        '{"operation": "keyboard.type", "text": "4711"}]. Places are pixels of the last screenshot.'
    )
    screenshot: bool = Field(
        False, description="Whether to see the screen at the end, once it is still."
    )

    async def do(self, desk: Desk) -> Said:
        result = await desk.machine.actions(
            map(in_screenshot, self.actions),
            screenshot=PICTURE if self.screenshot else None,
            key=desk.key,
        )
        return _said(result)


def _said(result: ActionsResult) -> Said:
    facts, pictures = done(result).facts, list[Picture]()
    ends = [end.model_dump(exclude_none=True, exclude={"picture"}) for end in result.actions]
    for content in (*(end.picture for end in result.actions), result.screenshot):
        if isinstance(content, PictureContent):
            pictures.append(Picture(content.content, content.format))
        elif content is not None:
            facts["left_out"] = content.left_out
    return Said({**facts, "actions": ends}, pictures)
