"""What can be waited for on a screen: stillness, a change, a text, a picture or an element.

Stillness, change and elements the machine judges by itself.  For a text or a picture it shows its
node what has changed, and the node says what is seen there.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag, field_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.pictures import Area, PictureWanted
from schemas.inputs.selectors import Selector
from schemas.inputs.sights import Looked, PictureShown, TextShown
from schemas.values.scalars import StrictBool
from schemas.values.strict import StrictModel

MAX_CONDITIONS: Final = 8
MAX_WAIT_SECONDS: Final = 120.0


class _Sight(Looked):
    """What counts of it."""

    ignore: Annotated[tuple[Area, ...], Field(max_length=16)] = Field(
        (), description="Whatever changes there does not count, such as a clock."
    )


class Still(_Sight):
    """The screen has not changed for so many seconds; a blinking caret is still."""

    still: Annotated[float, Field(strict=True, ge=0.1, le=10, allow_inf_nan=False)]


class Changed(_Sight):
    """The screen has changed."""

    changed: Literal[True]


class ElementSeen(StrictModel):
    """An element is there that can be seen; several are as good as one."""

    element: Selector
    gone: StrictBool = Field(False, description="true waits until there is none of them any more.")


_KINDS: Final[dict[str, type[StrictModel]]] = {
    "still": Still,
    "changed": Changed,
    "text": TextShown,
    "picture": PictureShown,
    "element": ElementSeen,
}


def _kind_of(condition: Any) -> str | None:
    if isinstance(condition, dict):
        return next((kind for kind in _KINDS if kind in condition), None)
    return next((kind for kind, model in _KINDS.items() if isinstance(condition, model)), None)


Condition = Annotated[
    Annotated[Still, Tag("still")]
    | Annotated[Changed, Tag("changed")]
    | Annotated[TextShown, Tag("text")]
    | Annotated[PictureShown, Tag("picture")]
    | Annotated[ElementSeen, Tag("element")],
    Discriminator(
        _kind_of,
        custom_error_type="condition_unknown",
        custom_error_message='a condition is {"still": seconds}, {"changed": true},'
        ' {"text": "Saved"}, {"picture": id} or {"element": {...}}',
    ),
]

Conditions = Annotated[
    tuple[Condition, ...], Field(json_schema_extra={"minItems": 1, "maxItems": MAX_CONDITIONS})
]


def check_conditions(conditions: Any) -> Any:
    """Check the number of conditions before anything else of them; as a validator."""
    if not isinstance(conditions, list | tuple):
        raise PydanticCustomError("list_type", "Input should be a valid list")
    if not 1 <= len(conditions) <= MAX_CONDITIONS:
        raise PydanticCustomError(
            "number_of_conditions",
            "there are {number} conditions, and may be 1 to {most}",
            {"number": len(conditions), "most": MAX_CONDITIONS},
        )
    return conditions


class Wait(StrictModel):
    """Wait until the screen meets one of several conditions."""

    any: Conditions = Field(description="The first of these that is met ends the wait.")
    timeout: Annotated[
        float, Field(strict=True, gt=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)
    ] = Field(30, description="Seconds.")
    screenshot: PictureWanted | None = Field(
        None, description="A picture for the answer, taken at the end of the wait."
    )

    _check_number = field_validator("any", mode="before")(check_conditions)
