"""Patterns for names on the screen: ``*`` is any text, ``?`` any character, ``\\`` takes the next.

A pattern is matched as a whole, in a time that is bounded by both lengths: whoever sends one may be
hostile, and so may the program whose names it is held against.
"""

import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schemas.values.scalars import Storable

MAX_GLOB_LENGTH: Final = 1024


def check_printable(text: str) -> str:
    """Refuse control characters, which no name on a screen shows; as a validator."""
    for position, character in enumerate(text, 1):
        if unicodedata.category(character) == "Cc":
            raise PydanticCustomError(
                "control_character",
                "character {position} is {code}, a control character: write ? or * in its place",
                {"position": position, "code": f"U+{ord(character):04X}"},
            )
    return text


def _check_escapes(text: str) -> str:
    if (len(text) - len(text.rstrip("\\"))) % 2:
        raise PydanticCustomError(
            "glob_incomplete", r"ends with a single \, which takes the next character: write \\"
        )
    return text


Glob = Annotated[
    str,
    Field(min_length=1, max_length=MAX_GLOB_LENGTH),
    AfterValidator(check_printable),
    AfterValidator(_check_escapes),
    Storable,
]
"""A pattern of 1 to 1024 characters."""

_ANY_TEXT: Final = None
_ANY_CHARACTER: Final = ""


def _parts(glob: str) -> list[str | None]:
    """One part for each sign of a pattern: a character, or what stands for any."""
    parts: list[str | None] = []
    signs = iter(glob)
    for sign in signs:
        if sign == "*":
            if parts[-1:] != [_ANY_TEXT]:
                parts.append(_ANY_TEXT)
        else:
            parts.append(
                _ANY_CHARACTER if sign == "?" else next(signs, sign) if sign == "\\" else sign
            )
    return parts


class Pattern:
    """A glob that is held against many texts."""

    def __init__(self, glob: str) -> None:
        self._parts = _parts(glob)

    def fits(self, text: str) -> bool:
        """Whether the whole text is like this.

        Of several places where a text can go on after a ``*``, only the last is ever tried again:
        an earlier one could not do what a later one cannot.
        """
        parts, at, part = self._parts, 0, 0
        again: tuple[int, int] | None = None
        while at < len(text):
            if part < len(parts) and parts[part] is _ANY_TEXT:
                again, part = (part + 1, at), part + 1
            elif part < len(parts) and parts[part] in (_ANY_CHARACTER, text[at]):
                at, part = at + 1, part + 1
            elif again is not None:
                part, at = again[0], again[1] + 1
                again = part, at
            else:
                return False
        return all(each is _ANY_TEXT for each in parts[part:])


def glob_of(text: str) -> str:
    """A pattern that a text fits, and hardly any other does."""
    signs = []
    for character in text:
        sign = "?" if unicodedata.category(character) in ("Cc", "Cs") else character
        signs.append(f"\\{sign}" if character in "*?\\" else sign)
    if sum(map(len, signs)) <= MAX_GLOB_LENGTH:
        return "".join(signs)
    return "".join(signs[: MAX_GLOB_LENGTH // 2 - 1]) + "*"
