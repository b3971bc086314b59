"""Parameters: what stands in a step's text in place of a value that each run brings.

A step that has ``parameters`` has a template: ``{{order}}`` is the value of the parameter
``order``, and ``{{{{`` is two braces.  In a step without them every character is itself, so that
nobody who types two braces means a parameter.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.texts import MAX_TEXT_LENGTH
from schemas.values.scalars import Fitting, StrictBool, Text
from schemas.values.strict import StrictModel

MOST_PARAMETERS: Final = 50
USUAL_LENGTH: Final = 255

_NAME: Final = "[A-Za-z_][A-Za-z0-9_]{0,63}"

ParameterName = Annotated[
    str,
    Fitting(_NAME, "must be 1 to 64 letters, digits and underscores, and not begin with a digit"),
]

_PIECE: Final = re.compile(
    r"(?P<braces>\{\{\{\{)"
    rf"|\{{\{{(?P<name>{_NAME})\}}\}}"
    rf"|(?P<text>[^{{]+|\{{(?!\{{)|\{{(?=\{{\{{{_NAME}\}}\}}))"
)
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_LINES: Final = "\n\r\t"


class Parameter(StrictModel):
    """What a value may be."""

    type: Literal["text", "integer", "number"] = Field(
        "text", description="integer and number are written in digits, with a point at most."
    )
    example: Annotated[Text, Field(max_length=MAX_TEXT_LENGTH)] | None = Field(
        None, description="A value as it could be; shown to whoever reads the step."
    )
    description: Annotated[Text, Field(max_length=1000)] | None = None
    max_length: Annotated[int, Field(strict=True, ge=1, le=MAX_TEXT_LENGTH)] = Field(
        USUAL_LENGTH, description="In characters."
    )
    control_characters: StrictBool = Field(
        False,
        description="Whether a value may have tabs and ends of lines, which press Tab and Enter.",
    )

    @model_validator(mode="after")
    def _takes_its_example(self) -> Self:
        if self.example is not None and (refusal := self.why_refused(self.example)):
            raise PydanticCustomError("example_wrong", "its example {why}", {"why": refusal})
        return self

    def why_refused(self, value: str) -> str | None:
        """What is wrong with a value, to stand behind its name; nothing of it is repeated."""
        if len(value) > self.max_length:
            return f"has {len(value)} characters, and may have {self.max_length}"
        for character in value:
            if ord(character) < ord(" ") or ord(character) == 0x7F:
                if character not in _LINES:
                    return f"has U+{ord(character):04X}, a control code, which no key types"
                if not self.control_characters:
                    return "has a tab or an end of line, which this parameter does not allow"
        if self.type == "integer" and not _WHOLE.fullmatch(value):
            return "must be an integer, in digits"
        if self.type == "number" and not _NUMBER.fullmatch(value):
            return "must be a number, in digits with a point at most"
        return None


Parameters = Annotated[
    dict[ParameterName, Parameter],
    Field(max_length=MOST_PARAMETERS),
]
"""Parameters by their names."""


def literal(text: str) -> str:
    """The template that says a text as it is."""
    return text.replace("{{", "{{{{")


def placed(name: str) -> str:
    """What stands for a parameter in a template."""
    return "{{" + name + "}}"


def names_in(template: str) -> frozenset[str]:
    """The parameters that a template names.  Raises ValueError with a sentence."""
    return frozenset(name for name, _ in _pieces(template) if name)


def filled(template: str, values: Mapping[str, str]) -> str:
    """The text that a template makes of values.  Raises ValueError; KeyError for a missing one."""
    return "".join(values[name] if name else text for name, text in _pieces(template))


def with_parameter(template: str, text: str, name: str) -> tuple[str, int]:
    """A template in which a parameter stands wherever the text did, and how often that was.

    Other parameters in it stay as they are.
    """
    changed, times = "", 0
    for is_name, pieces in groupby(_pieces(template), lambda piece: bool(piece[0])):
        if is_name:
            changed += "".join(placed(other) for other, _ in pieces)
            continue
        parts = "".join(literally for _, literally in pieces).split(text)
        changed += placed(name).join(map(literal, parts))
        times += len(parts) - 1
    return changed, times


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    """The names of parameters, and the texts between them with an empty name."""
    place = 0
    while place < len(template):
        found = _PIECE.match(template, place)
        if found is None:
            raise ValueError(
                f"character {place + 1} begins no parameter such as {{{{order}}}}: write {{{{{{{{ "
                "for two braces"
            )
        yield found["name"] or "", "{{" if found["braces"] else found["text"] or ""
        place = found.end()
