"""The inputs that a machine carries out, as an HTTP client sends them.

Coordinates are pixels of the machine's desktop, durations are seconds.  A field that is not
listed here is an error: an input that is not understood whole is not carried out.
"""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.clipboard_texts import ClipboardText, Selection
from schemas.inputs.key_combinations import KeyCombination
from schemas.inputs.texts import TYPING_SECONDS, TypedText, is_plain
from schemas.values.scalars import Coordinate, Int32, StrictBool
from schemas.values.strict import StrictModel

Button = Literal["left", "right", "middle"]
Direction = Literal["up", "down", "left", "right"]

MAX_DRAG_SECONDS = 60.0
MAX_SCROLL_STEPS = 1000
MAX_PATH_POINTS = 256


class Operation(StrEnum):
    """The name of an input on the wire, in the ledger and in results."""

    MOUSE_DRAG = "mouse.drag"
    MOUSE_CLICK = "mouse.click"
    MOUSE_SCROLL = "mouse.scroll"
    MOUSE_MOVE = "mouse.move"
    KEYBOARD_KEY = "keyboard.key"
    KEYBOARD_TYPE = "keyboard.type"
    CLIPBOARD_WRITE = "clipboard.write"
    ACTIONS = "actions"


class InputBody(StrictModel):
    """What the inputs have in common."""

    input_name: ClassVar[Operation]
    """Its operation.  Not called so, as an action of a batch says it in a field of that name."""

    @property
    def own_seconds(self) -> float:
        """The time that carrying out this input takes by its own terms, in seconds."""
        return 0.0


class OptionalPlace(StrictModel):
    """What happens at a place, or where the pointer already is."""

    x: Coordinate | None = Field(None, description="Pixels from the left; with y, or neither.")
    y: Coordinate | None = Field(None, description="Pixels from the top; with x, or neither.")

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise PydanticCustomError(
                "coordinates_incomplete", "x and y belong together: give both or neither"
            )
        return self


class DragMouse(InputBody):
    """Press a button at the start, travel to the end, and release it there."""

    input_name = Operation.MOUSE_DRAG

    to_x: Coordinate = Field(description="End x coordinate.")
    to_y: Coordinate = Field(description="End y coordinate.")
    start_x: Coordinate = Field(description="Start x coordinate.")
    start_y: Coordinate = Field(description="Start y coordinate.")
    duration: (
        Annotated[float, Field(strict=True, ge=0, le=MAX_DRAG_SECONDS, allow_inf_nan=False)] | None
    ) = Field(None, description="Seconds that the travel takes; null is a few quick moves.")
    button: Button | None = Field("left", description="The button held; null is left.")

    @property
    def own_seconds(self) -> float:
        return self.duration or 0.0


class ClickMouse(InputBody, OptionalPlace):
    """Click a button, or press it, or release it."""

    input_name = Operation.MOUSE_CLICK

    button: Button = "left"
    down: StrictBool | None = Field(
        None, description="null is a full click, true is press only, false is release only."
    )
    clicks: Annotated[int, Field(strict=True, ge=1, le=3)] = Field(
        1, description="1 is a single click, 2 a double, 3 a triple."
    )


class ScrollMouse(InputBody, OptionalPlace):
    """Turn the mouse wheel; one step is one notch."""

    input_name = Operation.MOUSE_SCROLL

    direction: Direction
    amount: Annotated[Int32, Field(ge=0, le=MAX_SCROLL_STEPS)] = Field(
        description="Number of scroll steps (notches)."
    )


class PathPoint(StrictModel):
    """A place that the pointer passes on its way."""

    x: Coordinate
    y: Coordinate


class MoveMouse(InputBody):
    """Move the pointer, straight there or along a path."""

    input_name = Operation.MOUSE_MOVE

    x: Coordinate
    y: Coordinate
    path: Annotated[tuple[PathPoint, ...], Field(max_length=MAX_PATH_POINTS)] | None = Field(
        None,
        exclude_if=lambda path: not path,
        description="Where the pointer passes, in order, before it comes to x and y.",
    )


class PressKeys(InputBody):
    """Press a key combination such as ``ctrl+a`` or ``down down enter``."""

    input_name = Operation.KEYBOARD_KEY

    text: KeyCombination
    down: StrictBool | None = Field(
        None, description="null is press and release, true is hold, false is release."
    )


class TypeText(InputBody):
    """Type a text as its characters; a line's end is Return, a tab is Tab."""

    input_name = Operation.KEYBOARD_TYPE

    text: TypedText

    @property
    def own_seconds(self) -> float:
        # A keyboard without the character needs a moment for each; the others take no time.
        return TYPING_SECONDS * sum(not is_plain(character) for character in self.text)


class WriteClipboard(InputBody):
    """Copy a text, as a program would: it is there for whoever pastes."""

    input_name = Operation.CLIPBOARD_WRITE

    text: ClipboardText
    selection: Selection = Field(
        "clipboard",
        description="clipboard is what people paste; primary is what X11 pastes with the middle "
        "button.",
    )


AnyInput = DragMouse | ClickMouse | ScrollMouse | MoveMouse | PressKeys | TypeText | WriteClipboard

INPUT_BODIES: dict[Operation, type[AnyInput]] = {
    body.input_name: body for body in get_args(AnyInput)
}
"""Each operation's body, by its name on the wire."""
