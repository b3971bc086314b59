"""Texts to type: which characters they may hold, and the keys that type them.

A text is typed as it is, character by character: there are no names and no chords in it, which
belong to key combinations.  The whole text is checked before anything is pressed, and no message
repeats any of it: it may be a password.
"""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schemas.inputs.key_combinations import Chord, Key

MAX_TEXT_LENGTH = 1000
TYPING_SECONDS = 0.2
"""How long a character takes at worst that the machine's keyboard does not have."""

_CONTROL_KEYS = {"\n": Key("enter"), "\t": Key("tab")}
_LINE_END = re.compile("\r\n?")


def is_plain(character: str) -> bool:
    """Whether every keyboard has a key for a character, near enough."""
    return character.isascii()


def chords_of(text: str) -> tuple[Chord, ...]:
    """The keys to press one after another, one for each character.

    A carriage return, a line feed and both together are one Return.
    """
    return tuple(
        Chord((), _CONTROL_KEYS.get(character) or Key(character, is_character=True))
        for character in _LINE_END.sub("\n", text)
    )


def _check(text: str) -> str:
    for position, character in enumerate(_LINE_END.sub("\n", text), 1):
        if character in _CONTROL_KEYS or unicodedata.category(character) != "Cc":
            continue
        code = f"U+{ord(character):04X}"
        raise PydanticCustomError(
            "text_not_typeable",
            "character {position} is {code}, a control code, which no key"
            " types: use keyboard/key for keys such as esc",
            {"position": position, "code": code},
        )
    return text


TypedText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT_LENGTH,
        description="Typed as it is; a line's end is Return, a tab is Tab.",
    ),
    AfterValidator(_check),
]
"""A text that can be typed, but for characters that the machine's keyboard may lack."""
