"""Several actions in one request: what was decided at once is done at once, in its order.

Every input is an action under the name of its operation, with its own fields.  So is what stands
between inputs: a pause, a wait for what the screen shows, and a picture.
"""

from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import Discriminator, Field, Tag, field_validator
from pydantic_core import PydanticCustomError

from schemas.inputs import bodies
from schemas.inputs.bodies import INPUT_BODIES, AnyInput, InputBody, Operation
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.texts import MAX_TEXT_LENGTH, MAX_TYPING_SECONDS
from schemas.inputs.waits import Conditions, check_conditions
from schemas.values.strict import StrictModel

MAX_ACTIONS: Final = 50
MAX_TEXT: Final = MAX_TEXT_LENGTH
"""Characters: all texts together have as many as one alone."""

MAX_SECONDS: Final = MAX_TYPING_SECONDS
"""Of all actions together, by their own terms: what one text may take alone."""

MAX_PICTURES: Final = 5
MAX_PICTURES_BYTES: Final = 8 * 1024 * 1024
"""Of all pictures together; those beyond are left out."""

MAX_SETTLE_SECONDS: Final = 2.0

LONGEST_COMMAND_SECONDS: Final = MAX_SECONDS + 2 * MAX_SETTLE_SECONDS
"""The longest that any command takes by its own terms: whatever waits for one waits so long, and as
long as the command may wait for its turn."""


class DragAction(bodies.DragMouse):
    """Drag the mouse."""

    operation: Literal["mouse.drag"]


class ClickAction(bodies.ClickMouse):
    """Click a mouse button."""

    operation: Literal["mouse.click"]


class ScrollAction(bodies.ScrollMouse):
    """Turn the mouse wheel."""

    operation: Literal["mouse.scroll"]


class MoveAction(bodies.MoveMouse):
    """Move the pointer."""

    operation: Literal["mouse.move"]


class KeysAction(bodies.PressKeys):
    """Press a key combination."""

    operation: Literal["keyboard.key"]


class TypeAction(bodies.TypeText):
    """Type a text."""

    operation: Literal["keyboard.type"]


class CopyAction(bodies.WriteClipboard):
    """Copy a text."""

    operation: Literal["clipboard.write"]


class InvokeAction(bodies.InvokeElement):
    """Have an element do what it is there for."""

    operation: Literal["element.invoke"]


class SetValueAction(bodies.SetElementValue):
    """Put a value into an element."""

    operation: Literal["element.set_value"]


class FocusAction(bodies.FocusElement):
    """Put the keyboard's focus on an element."""

    operation: Literal["element.focus"]


class Pause(StrictModel):
    """Let time pass."""

    operation: Literal["wait"]
    seconds: Annotated[float, Field(strict=True, gt=0, le=MAX_SECONDS, allow_inf_nan=False)]

    @property
    def own_seconds(self) -> float:
        """The time that this takes, in seconds."""
        return self.seconds


class WaitFor(StrictModel):
    """Wait until the screen shows one of several things."""

    operation: Literal["wait_for"]
    any: Conditions
    timeout: Annotated[float, Field(strict=True, gt=0, le=MAX_SECONDS, allow_inf_nan=False)] = (
        Field(10, description="Seconds, after which it was not seen.")
    )
    on_timeout: Literal["stop", "continue"] = Field(
        "stop",
        description="stop ends the request there, with 409 actions-stopped; continue goes on with "
        "the next action.",
    )

    _check_number = field_validator("any", mode="before")(check_conditions)

    @property
    def own_seconds(self) -> float:
        """The time that this takes at most, in seconds."""
        return self.timeout


class TakePicture(PictureWanted):
    """Take a picture of the screen as it is then."""

    operation: Literal["screenshot"]

    @property
    def own_seconds(self) -> float:
        """A picture takes no time of its own."""
        return 0.0


class ClosingPicture(PictureWanted):
    """The picture that is taken at the end, once the screen is still."""

    settle: Annotated[
        float, Field(strict=True, ge=0, le=MAX_SETTLE_SECONDS, allow_inf_nan=False)
    ] = Field(
        0,
        description="Wait until nothing has changed for so many seconds, at most 2 s longer; a "
        "blinking caret is still.",
    )

    @property
    def longest_settling(self) -> float:
        """After how many seconds the picture is taken of a screen that does not become still."""
        return self.settle + MAX_SETTLE_SECONDS if self.settle else 0.0


InputAction = (
    DragAction
    | ClickAction
    | ScrollAction
    | MoveAction
    | KeysAction
    | TypeAction
    | CopyAction
    | InvokeAction
    | SetValueAction
    | FocusAction
)
AnyAction = InputAction | Pause | WaitFor | TakePicture

_OPERATIONS: Final = tuple(
    get_args(kind.model_fields["operation"].annotation)[0] for kind in get_args(AnyAction)
)


def _operation_of(action: Any) -> str | None:
    if isinstance(action, dict):
        action = action.get("operation")
    else:
        action = getattr(action, "operation", None)
    return action if isinstance(action, str) else None


_ByOperation = Discriminator(
    _operation_of,
    custom_error_type="operation_unknown",
    custom_error_message=f"operation must be one of {', '.join(_OPERATIONS)}",
)


_TaggedAction = (
    Annotated[DragAction, Tag("mouse.drag")]
    | Annotated[ClickAction, Tag("mouse.click")]
    | Annotated[ScrollAction, Tag("mouse.scroll")]
    | Annotated[MoveAction, Tag("mouse.move")]
    | Annotated[KeysAction, Tag("keyboard.key")]
    | Annotated[TypeAction, Tag("keyboard.type")]
    | Annotated[CopyAction, Tag("clipboard.write")]
    | Annotated[InvokeAction, Tag("element.invoke")]
    | Annotated[SetValueAction, Tag("element.set_value")]
    | Annotated[FocusAction, Tag("element.focus")]
    | Annotated[Pause, Tag("wait")]
    | Annotated[WaitFor, Tag("wait_for")]
    | Annotated[TakePicture, Tag("screenshot")]
)


def _characters_of(action: AnyAction) -> int:
    match action:
        case TypeAction(text=text) | CopyAction(text=text) | SetValueAction(value=str(text)):
            return len(text)
    return 0


class Actions(InputBody):
    """Up to 50 actions, one after another; it ends with the first that is not completed."""

    input_name = Operation.ACTIONS

    actions: Annotated[
        tuple[Annotated[_TaggedAction, _ByOperation], ...],
        Field(json_schema_extra={"minItems": 1, "maxItems": MAX_ACTIONS}),
    ]
    screenshot: ClosingPicture | None = Field(
        None, description="A picture for the answer, taken after the last action."
    )

    @field_validator("actions", mode="before")
    @classmethod
    def _are_neither_none_nor_too_many(cls, actions: Any) -> Any:
        """Check the number first, whatever they are."""
        if not isinstance(actions, list | tuple):
            raise PydanticCustomError("list_type", "Input should be a valid list")
        if not 1 <= len(actions) <= MAX_ACTIONS:
            raise PydanticCustomError(
                "number_of_actions",
                "there are {number} actions, and may be 1 to {most}",
                {"number": len(actions), "most": MAX_ACTIONS},
            )
        return actions

    @field_validator("actions")
    @classmethod
    def _is_bounded(cls, actions: tuple[AnyAction, ...]) -> tuple[AnyAction, ...]:
        """Check what bounds all of them together; each one's own fields are right already."""
        characters = sum(map(_characters_of, actions))
        if characters > MAX_TEXT:
            raise PydanticCustomError(
                "texts_too_long",
                "all texts together have {characters} characters, and may have {most}",
                {"characters": characters, "most": MAX_TEXT},
            )
        seconds = sum(each.own_seconds for each in actions)
        if seconds > MAX_SECONDS:
            raise PydanticCustomError(
                "too_long",
                "all actions together can take {seconds} s by their own terms, and may take {most}:"
                " drags, holds, waits until they time out, and 0.2 s for each character that"
                " keyboards lack",
                {"seconds": round(seconds, 3), "most": MAX_SECONDS},
            )
        if (pictures := sum(isinstance(each, TakePicture) for each in actions)) > MAX_PICTURES:
            raise PydanticCustomError(
                "too_many_pictures",
                "there are {pictures} pictures among the actions, and may be {most}",
                {"pictures": pictures, "most": MAX_PICTURES},
            )
        return actions

    @property
    def own_seconds(self) -> float:
        settling = 0.0 if self.screenshot is None else self.screenshot.longest_settling
        return sum(each.own_seconds for each in self.actions) + settling

    @property
    def looks(self) -> bool:
        """Whether it looks at the screen, for a picture or to wait for something."""
        return self.screenshot is not None or any(
            isinstance(each, WaitFor | TakePicture) for each in self.actions
        )

    @property
    def copies(self) -> bool:
        """Whether it writes the clipboard."""
        return any(isinstance(each, CopyAction) for each in self.actions)

    def without_texts(self) -> Self:
        """The same with nothing to do, for when it was sent."""
        return self.model_copy(update={"actions": ()})


AnyBody = AnyInput | Actions
"""What a command can be: one input, or several actions."""

COMMAND_BODIES: Final[dict[Operation, type[AnyBody]]] = {
    **INPUT_BODIES,
    Operation.ACTIONS: Actions,
}
"""Each operation's body, by its name on the wire."""
