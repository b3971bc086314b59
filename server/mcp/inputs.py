"""The tools of mouse and keyboard, one class for each: its arguments, and what it does."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from farhand import actions
from farhand.actions import Button
from schemas.values.scalars import Int32
from server.mcp.arguments import AT, AtPlace, Coordinate, Input, Seconds, held
from server.mcp.desk import Desk, Said, done

Amount = Annotated[Int32, Field(ge=0)]


class _Click(AtPlace):
    button: ClassVar[Button] = "left"
    clicks: ClassVar[int] = 1
    down: ClassVar[bool | None] = None

    async def do(self, desk: Desk) -> Said:
        how: dict[str, Any] = {"button": self.button, "clicks": self.clicks, "down": self.down}
        return await desk.do(actions.click(**self.where, **how))


class LeftClick(_Click):
    """Click the left mouse button."""

    name = "left_click"
    title = "Click"


class RightClick(_Click):
    """Click the right mouse button, which opens a context menu nearly everywhere."""

    name = "right_click"
    title = "Right-click"
    button = "right"


class MiddleClick(_Click):
    """Click the middle mouse button."""

    name = "middle_click"
    title = "Middle-click"
    button = "middle"


class DoubleClick(_Click):
    """Click the left mouse button twice."""

    name = "double_click"
    title = "Double-click"
    clicks = 2


class TripleClick(_Click):
    """Click the left mouse button three times, which marks a line or a paragraph."""

    name = "triple_click"
    title = "Triple-click"
    clicks = 3


class LeftMouseDown(_Click):
    """Press the left mouse button and hold it until left_mouse_up."""

    name = "left_mouse_down"
    title = "Press the mouse button"
    down = True


class LeftMouseUp(_Click):
    """Release the left mouse button."""

    name = "left_mouse_up"
    title = "Release the mouse button"
    down = False


class MouseMove(Input):
    """Move the pointer, without a click."""

    name = "mouse_move"
    title = "Move the pointer"
    destroys = False

    coordinate: Coordinate = Field(description=AT)

    async def do(self, desk: Desk) -> Said:
        return await desk.do(actions.move(*self.coordinate))


class LeftClickDrag(Input):
    """Press the left mouse button at a place, travel to another, and release it there."""

    name = "left_click_drag"
    title = "Drag"

    start_coordinate: Coordinate = Field(description=f"Where it is pressed: {AT}.")
    coordinate: Coordinate = Field(description=f"Where it is released: {AT}.")
    text: str | None = Field(None, max_length=100, description="Keys held meanwhile.")

    async def do(self, desk: Desk) -> Said:
        places = (*self.start_coordinate, *self.coordinate)
        return await desk.do(actions.drag(*places, modifiers=held(self.text)))


class Scroll(AtPlace):
    """Turn the mouse wheel."""

    name = "scroll"
    title = "Scroll"
    destroys = False

    scroll_direction: Literal["up", "down", "left", "right"]
    scroll_amount: Amount = Field(description="Notches of the wheel; 3 to 10 is usual.")

    async def do(self, desk: Desk) -> Said:
        how = (self.scroll_direction, self.scroll_amount)
        return await desk.do(actions.scroll(*how, **self.where))


class Key(Input):
    """Press keys: ctrl+a is a combination, "down down Return" three keys one after another."""

    name = "key"
    title = "Press keys"

    text: str = Field(max_length=4096, description="Such as Return, ctrl+s, alt+Tab or Page_Down.")
    repeat: Annotated[int, Field(ge=1, le=100)] = Field(1, description="How often.")

    async def do(self, desk: Desk) -> Said:
        return await desk.do(actions.key(self.text, repeat=self.repeat))


class HoldKey(Input):
    """Hold keys down together for some time."""

    name = "hold_key"
    title = "Hold keys"

    text: str = Field(max_length=4096, description="Such as shift, or ctrl+alt.")
    duration: Seconds = Field(le=60, description="Seconds.")

    async def do(self, desk: Desk) -> Said:
        return await desk.do(actions.key(self.text, hold=self.duration))


class Type(Input):
    """Type a text as it is; a line's end is Return, a tab is Tab."""

    name = "type"
    title = "Type a text"

    text: str = Field(min_length=1, max_length=10_000)

    async def do(self, desk: Desk) -> Said:
        return await desk.do(actions.type(self.text))


class Wait(Input):
    """Do nothing for some time. wait_for is better where the screen says when it is time."""

    name = "wait"
    title = "Wait"
    destroys = False

    duration: Seconds = Field(le=120, description="Seconds.")

    async def do(self, desk: Desk) -> Said:
        pause = [actions.pause(self.duration)]
        return done(await desk.machine.actions(pause, key=desk.key))


class ClipboardWrite(Input):
    """Copy a text on the machine, to be pasted there."""

    name = "clipboard_write"
    title = "Write the clipboard"

    text: str

    async def do(self, desk: Desk) -> Said:
        return await desk.do(actions.write_clipboard(self.text))
