"""How somebody says which element of the screen is meant: by what it is, and not by where.

A selector that fits none or several elements says so: there is no first and no second of them.
"""

from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.element_words import ROLES, Role
from schemas.inputs.globs import MAX_GLOB_LENGTH, Glob, check_printable
from schemas.values.scalars import Storable
from schemas.values.strict import StrictModel

MAX_REF_LENGTH: Final = 255


_TELLING: Final = ("role", "name", "text", "ref")
"""One of these at least a selector has."""


def _known_role(role: Any) -> Any:
    if isinstance(role, str) and role not in ROLES:
        raise PydanticCustomError(
            "role_unknown",
            "must be a role such as push button, entry, check box, menu item or label; "
            "docs/reference/elements.md has all of them",
        )
    return role


KnownRole = Annotated[Role, BeforeValidator(_known_role)]

PartOfText = Annotated[
    str,
    Field(min_length=1, max_length=MAX_GLOB_LENGTH),
    AfterValidator(check_printable),
    Storable,
]

Ref = Annotated[
    str,
    Field(min_length=1, max_length=MAX_REF_LENGTH, pattern=r"^[!-~]+$"),
]
"""What a machine called an element when it told of it."""


def _is_none(value: object) -> bool:
    return value is None


class Sought(StrictModel):
    """What elements are like that are looked for; in globs * is any text and ? any character."""

    role: KnownRole | None = Field(
        None, exclude_if=_is_none, description="What it is, such as push button."
    )
    name: Glob | None = Field(None, exclude_if=_is_none, description="A glob of its whole name.")
    text: PartOfText | None = Field(
        None,
        exclude_if=_is_none,
        description="A text that stands in its name or its value, as it is written.",
    )
    value: Glob | None = Field(
        None,
        exclude_if=_is_none,
        description="A glob of its whole value; a password field has none.",
    )
    window: Glob | None = Field(
        None, exclude_if=_is_none, description="A glob of the title of its window."
    )
    application: Glob | None = Field(
        None, exclude_if=_is_none, description="A glob of what its program calls itself."
    )


class Selector(Sought):
    """Which element is meant: all that is given must be so, of exactly one that can be seen."""

    model_config = ConfigDict(
        json_schema_extra={"allOf": [{"anyOf": [{"required": [each]} for each in _TELLING]}]}
    )

    ref: Ref | None = Field(
        None,
        exclude_if=_is_none,
        description="What a list of elements called it.  It is bound to role and name: where these "
        "are others by now, the element is missing.",
    )

    @model_validator(mode="after")
    def _says_what_it_is(self) -> Self:
        if all(getattr(self, each) is None for each in _TELLING):
            raise PydanticCustomError(
                "selector_empty", "say what the element is: by role, name, text or ref"
            )
        return self
