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

MAX_TEXT_LENGTH = 10_000
TYPING_SECONDS = 0.2
"""How long a character takes at worst that the machine's keyboard does not have."""

MAX_TYPING_SECONDS = 120.0
"""Of all such characters of a text together."""

_CONTROL_KEYS = {"\n": Key("enter"), "\t": Key("tab")}
_LINE_END = re.compile("\r\n?")


def is_plain(character: str) -> bool:
    """Whether every keyboard has a key for a character, near enough."""
    return character.isascii()


def typing_seconds(text: str) -> float:
    """How long a text takes at worst by its own terms: a keyboard's own characters take no time."""
    return TYPING_SECONDS * sum(not is_plain(character) for character in text)


def chords_of(text: str) -> tuple[Chord, ...]:
    """The keys to press one after another, one for each character.

    A carriage return, a line feed and both together are one Return.
    """
    return tuple(
        Chord((), _CONTROL_KEYS.get(character) or Key(character, is_character=True))
        for character in _LINE_END.sub("\n", text)
    )


def check_typeable(text: str) -> str:
    """Refuse control codes, which no key types; as a validator."""
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


def _check_time(text: str) -> str:
    if (seconds := typing_seconds(text)) > MAX_TYPING_SECONDS:
        raise PydanticCustomError(
            "text_takes_too_long",
            "can take {seconds} s, as {each} s are reckoned for each character beyond ASCII, and "
            "may take {most} s: type it in several requests",
            {
                "seconds": round(seconds, 1),
                "each": TYPING_SECONDS,
                "most": round(MAX_TYPING_SECONDS),
            },
        )
    return text


TypedText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT_LENGTH,
        description="Typed as it is; a line's end is Return, a tab is Tab.",
    ),
    AfterValidator(check_typeable),
    AfterValidator(_check_time),
]
"""A text that can be typed, but for characters that the machine's keyboard may lack."""
