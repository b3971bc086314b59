"""The inputs that a machine carries out, as an HTTP client sends them.

Coordinates are pixels of the machine's desktop, durations are seconds.  In the place of coordinates
an element of the screen can be named, which the machine finds right before the first event.  A
field that is not listed here is an error: an input that is not understood whole is not carried out.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from schemas.inputs.clipboard_texts import ClipboardText, Selection
from schemas.inputs.key_combinations import KeyCombination
from schemas.inputs.modifiers import Modifiers
from schemas.inputs.places import PathPoint, PictureSize, Place
from schemas.inputs.selectors import Selector
from schemas.inputs.texts import MAX_TEXT_LENGTH, TypedText, check_typeable, typing_seconds
from schemas.values.scalars import Coordinate, Int32, Storable, StrictBool
from schemas.values.strict import StrictModel
from schemas.values.validation_errors import Wrong, errors_of

Button = Literal["left", "right", "middle", "back", "forward"]
BUTTONS: Final[tuple[Button, ...]] = get_args(Button)
Direction = Literal["up", "down", "left", "right"]

MAX_DRAG_SECONDS = 60.0
MAX_SCROLL_STEPS = 1000
MAX_PATH_POINTS = 256

MAX_HOLD_SECONDS = 60.0
"""Of all holds of an input together."""

MAX_REPEATS = 100
MAX_CHORDS = 2048
"""As many as the longest combination has; of all its repetitions together."""

MAX_NUMBER = 1e15
"""Of a value that is set: greater ones are not whole numbers any more."""

Element = Selector | None
PlaceOr = Coordinate | None
"""A coordinate that is needed where no element stands in its place."""

PathPoints = Annotated[tuple[PathPoint, ...], Field(max_length=MAX_PATH_POINTS)]


def _is_empty(value: object) -> bool:
    return not value


class Operation(StrEnum):
    """The name of an input on the wire, in the ledger and in results."""

    MOUSE_DRAG = "mouse.drag"
    MOUSE_CLICK = "mouse.click"
    MOUSE_SCROLL = "mouse.scroll"
    MOUSE_MOVE = "mouse.move"
    KEYBOARD_KEY = "keyboard.key"
    KEYBOARD_TYPE = "keyboard.type"
    CLIPBOARD_WRITE = "clipboard.write"
    ELEMENT_INVOKE = "element.invoke"
    ELEMENT_SET_VALUE = "element.set_value"
    ELEMENT_FOCUS = "element.focus"
    ACTIONS = "actions"


_TEXT: TypeAdapter[str] = TypeAdapter(
    Annotated[str, Field(max_length=MAX_TEXT_LENGTH), AfterValidator(check_typeable), Storable]
)
_NUMBER: TypeAdapter[float] = TypeAdapter(
    Annotated[float, Field(strict=True, ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
)


def _text_or_number(value: Any) -> str | float:
    if isinstance(value, str):
        return _TEXT.validate_python(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _NUMBER.validate_python(value)
    raise PydanticCustomError("text_or_number", "must be a text or a number")


ElementValue = Annotated[
    str | float,
    BeforeValidator(_text_or_number),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": MAX_TEXT_LENGTH},
                {"type": "number", "minimum": -MAX_NUMBER, "maximum": MAX_NUMBER},
            ]
        }
    ),
]


class InputBody(StrictModel):
    """What the inputs have in common."""

    input_name: ClassVar[Operation]
    """Its operation.  Not called so, as an action of a batch says it in a field of that name."""

    @property
    def own_seconds(self) -> float:
        """The time that carrying out this input takes by its own terms, in seconds."""
        return 0.0


_NOT_BOTH = PydanticCustomError("place_and_element", "give a place or an element, not both")


def _missing_without(element_field: str, value: Any, info: ValidationInfo) -> Any:
    """Refuse a field that is missing, unless an element stands in its place.

    An element that is wrong has its own error, and is not missing.
    """
    if info.data.get(element_field, _NOT_BOTH) is None and value is None:
        raise PydanticCustomError("missing", "Field required")
    return value


def _places_or_elements(*pairs: tuple[tuple[str, str], str]) -> ConfigDict:
    """What a schema says of fields of which either the one or the others are needed."""
    return ConfigDict(
        json_schema_extra={
            "allOf": [
                {"anyOf": [{"required": [*place]}, {"required": [element]}]}
                for place, element in pairs
            ]
        }
    )


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


class MouseInput(InputBody):
    """What happens at a place, or along a way, perhaps while modifiers are held."""

    # in, which no field of Python's can be called.
    model_config = ConfigDict(serialize_by_alias=True)

    place_fields: ClassVar[tuple[tuple[str, str], ...]] = (("x", "y"),)
    """The fields that name a place, beside those of a path."""

    element_fields: ClassVar[tuple[str, ...]] = ("element",)
    """The fields that name an element in the place of each of these."""

    modifiers: Modifiers | None = Field(
        None,
        exclude_if=_is_empty,
        description="Modifier keys, such as ctrl and shift, that are held from before the first "
        "event until after the last.",
    )
    picture_size: PictureSize | None = Field(
        None,
        alias="in",
        exclude_if=_is_empty,
        description="The size of the picture of the whole desktop that the places were read from, "
        "if it is another than the desktop's: they are pixels of that picture then.",
    )

    @property
    def passed(self) -> PathPoints:
        """The points that the pointer passes on its way."""
        return ()

    @property
    def places(self) -> Iterator[Place]:
        """Every place that it names."""
        for x_field, y_field in self.place_fields:
            x, y = getattr(self, x_field), getattr(self, y_field)
            if x is not None and y is not None:
                yield Place(x, y, (x_field,), (y_field,))
        for number, point in enumerate(self.passed):
            yield Place(point.x, point.y, ("path", number, "x"), ("path", number, "y"))

    @property
    def elements(self) -> Iterator[tuple[str, Selector]]:
        """Every element that it names in the place of a place, and the field that names it."""
        for field in self.element_fields:
            if (selector := getattr(self, field)) is not None:
                yield field, selector

    def at(self, found: Mapping[str, tuple[int, int]]) -> Self:
        """The same with places in the place of elements, by the fields that name these."""
        changed: dict[str, Any] = {}
        for (x_field, y_field), field in zip(self.place_fields, self.element_fields, strict=True):
            if field in found:
                x, y = found[field]
                changed |= {x_field: x, y_field: y, field: None}
        return self.model_copy(update=changed)

    def without_elements(self) -> Self:
        """The same without those of its places that are elements."""
        return self.model_copy(update=dict.fromkeys(self.element_fields))

    def with_places(self, put: Callable[[Place], tuple[int, int]]) -> Self:
        """The same with other places of the desktop: ``put`` says which one each becomes."""
        changed: dict[str, Any] = {"picture_size": None}
        path: list[PathPoint] = []
        for place in self.places:
            x, y = put(place)
            if place.x_field[0] == "path":
                path.append(PathPoint(x=x, y=y))
            else:
                changed |= {str(place.x_field[0]): x, str(place.y_field[0]): y}
        return self.model_copy(update={**changed, **({"path": tuple(path)} if path else {})})

    @model_validator(mode="after")
    def _has_places_or_elements(self) -> Self:
        wrong = [
            Wrong((field,), _NOT_BOTH, None)
            for places, field in zip(self.place_fields, self.element_fields, strict=True)
            if getattr(self, field) is not None
            and any(getattr(self, place) is not None for place in places)
        ]
        if wrong:
            raise errors_of(wrong)
        return self

    @model_validator(mode="after")
    def _is_in_the_picture(self) -> Self:
        if (picture := self.picture_size) is not None:
            wrong = [each for place in self.places for each in picture.beside(place)]
            if wrong:
                raise errors_of(wrong)
        return self


class DragMouse(MouseInput):
    """Press a button at the start, travel to the end, and release it there."""

    model_config = _places_or_elements(
        (("start_x", "start_y"), "start_element"), (("to_x", "to_y"), "to_element")
    )
    input_name = Operation.MOUSE_DRAG
    place_fields = (("start_x", "start_y"), ("to_x", "to_y"))
    element_fields = ("start_element", "to_element")

    to_element: Element = Field(
        None, exclude_if=_is_empty, description="Where it ends, in the place of to_x and to_y."
    )
    start_element: Element = Field(
        None,
        exclude_if=_is_empty,
        description="Where it starts, in the place of start_x and start_y.",
    )
    to_x: PlaceOr = Field(None, validate_default=True, description="End x coordinate.")
    to_y: PlaceOr = Field(None, validate_default=True, description="End y coordinate.")
    start_x: PlaceOr = Field(None, validate_default=True, description="Start x coordinate.")
    start_y: PlaceOr = Field(None, validate_default=True, description="Start y coordinate.")
    duration: (
        Annotated[float, Field(strict=True, ge=0, le=MAX_DRAG_SECONDS, allow_inf_nan=False)] | None
    ) = Field(None, description="Seconds that the travel takes; null is a few quick moves.")
    button: Button | None = Field("left", description="The button held; null is left.")
    path: PathPoints | None = Field(
        None,
        exclude_if=_is_empty,
        description="Where the pointer passes, in order, on the way from the start to the end.",
    )

    @field_validator("to_x", "to_y", "start_x", "start_y", mode="before")
    @classmethod
    def _is_there(cls, value: Any, info: ValidationInfo) -> Any:
        side = str(info.field_name).partition("_")[0]
        return _missing_without(f"{side}_element", value, info)

    @property
    def passed(self) -> PathPoints:
        return self.path or ()

    @property
    def own_seconds(self) -> float:
        return self.duration or 0.0


class ClickMouse(MouseInput, OptionalPlace):
    """Click a button, or press it, or release it."""

    input_name = Operation.MOUSE_CLICK

    element: Element = Field(
        None, exclude_if=_is_empty, description="Where it happens, in the place of x and y."
    )
    button: Button = "left"
    down: StrictBool | None = Field(
        None, description="null is a full click, true is press only, false is release only."
    )
    clicks: Annotated[int, Field(strict=True, ge=1, le=3)] = Field(
        1, description="1 is a single click, 2 a double, 3 a triple."
    )


class ScrollMouse(MouseInput, OptionalPlace):
    """Turn the mouse wheel; one step is one notch."""

    input_name = Operation.MOUSE_SCROLL

    element: Element = Field(
        None, exclude_if=_is_empty, description="Where it happens, in the place of x and y."
    )
    direction: Direction
    amount: Annotated[Int32, Field(ge=0, le=MAX_SCROLL_STEPS)] = Field(
        description="Number of scroll steps (notches)."
    )


class MoveMouse(MouseInput):
    """Move the pointer, straight there or along a path."""

    model_config = _places_or_elements((("x", "y"), "element"))
    input_name = Operation.MOUSE_MOVE

    element: Element = Field(
        None, exclude_if=_is_empty, description="Where it comes to, in the place of x and y."
    )
    x: PlaceOr = Field(None, validate_default=True)
    y: PlaceOr = Field(None, validate_default=True)
    path: PathPoints | None = Field(
        None,
        exclude_if=_is_empty,
        description="Where the pointer passes, in order, before it comes to x and y.",
    )

    @field_validator("x", "y", mode="before")
    @classmethod
    def _is_there(cls, value: Any, info: ValidationInfo) -> Any:
        return _missing_without("element", value, info)

    @property
    def passed(self) -> PathPoints:
        return self.path or ()


def _repeated_too_often(repeat: int, most: str) -> Exception:
    error = PydanticCustomError(
        "repeated_too_often", "must be less: {most} at most", {"most": most}
    )
    return errors_of([Wrong(("repeat",), error, repeat)])


class PressKeys(InputBody):
    """Press a key combination such as ``ctrl+a`` or ``down down enter``."""

    input_name = Operation.KEYBOARD_KEY

    text: KeyCombination
    down: StrictBool | None = Field(
        None, description="null is press and release, true is hold, false is release."
    )
    hold: (
        Annotated[float, Field(strict=True, gt=0, le=MAX_HOLD_SECONDS, allow_inf_nan=False)] | None
    ) = Field(
        None,
        exclude_if=_is_empty,
        description="Seconds for which all keys of the text are held down together, before they "
        "are released.",
    )
    repeat: Annotated[int, Field(strict=True, ge=1, le=MAX_REPEATS)] = Field(
        1,
        exclude_if=lambda repeat: repeat == 1,
        description=f"How many times, one after another; hold times repeat is at most "
        f"{MAX_HOLD_SECONDS:g} s.",
    )

    @property
    def own_seconds(self) -> float:
        return (self.hold or 0.0) * self.repeat

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.down is not None:
            if wrong := [
                Wrong(
                    (field,),
                    PydanticCustomError(
                        "not_with_down",
                        "{field} is for keys that are pressed and released: leave down out, or "
                        "make it null",
                        {"field": field},
                    ),
                    value,
                )
                for field, value, default in (("hold", self.hold, None), ("repeat", self.repeat, 1))
                if value != default
            ]:
                raise errors_of(wrong)
        elif self.own_seconds > MAX_HOLD_SECONDS:
            raise _repeated_too_often(self.repeat, f"hold times repeat is {MAX_HOLD_SECONDS:g} s")
        elif self.repeat > 1 and (self.text.count(" ") + 1) * self.repeat > MAX_CHORDS:
            raise _repeated_too_often(self.repeat, f"chords times repeat is {MAX_CHORDS}")
        return self


class TypeText(InputBody):
    """Type a text as its characters; a line's end is Return, a tab is Tab."""

    input_name = Operation.KEYBOARD_TYPE

    text: TypedText

    @property
    def own_seconds(self) -> float:
        return typing_seconds(self.text)


class WriteClipboard(InputBody):
    """Copy a text, as a program would: it is there for whoever pastes."""

    input_name = Operation.CLIPBOARD_WRITE

    text: ClipboardText
    selection: Selection = Field(
        "clipboard",
        description="clipboard is what people paste; primary is what X11 pastes with the middle "
        "button.",
    )


class ElementInput(InputBody):
    """What is asked of an element itself: no pointer moves, and no key is pressed."""

    element: Selector


class InvokeElement(ElementInput):
    """Have an element do what it is there for, such as a button what a click does."""

    input_name = Operation.ELEMENT_INVOKE


class FocusElement(ElementInput):
    """Put the keyboard's focus on an element."""

    input_name = Operation.ELEMENT_FOCUS


class SetElementValue(ElementInput):
    """Put a text into a field, or a number into what has one, such as a slider."""

    input_name = Operation.ELEMENT_SET_VALUE

    value: ElementValue


AnyInput = (
    DragMouse
    | ClickMouse
    | ScrollMouse
    | MoveMouse
    | PressKeys
    | TypeText
    | WriteClipboard
    | InvokeElement
    | SetElementValue
    | FocusElement
)

INPUT_BODIES: dict[Operation, type[AnyInput]] = {
    body.input_name: body for body in get_args(AnyInput)
}
"""Each operation's body, by its name on the wire."""
