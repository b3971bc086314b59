"""What others say about themselves, or did wrong: fit to be logged, stored and shown.

Whoever says it may be hostile.  It is cut once, where it enters, and after that is a text like any
other.
"""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

MAX_CHARACTERS: Final = 200


def printable(text: str) -> str:
    """The text with whatever is not printable escaped as in a Python string."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def foreign_text(text: str, most: int = MAX_CHARACTERS) -> str:
    """The beginning of a text that another side chose, of so many printable characters at most."""
    escaped = printable(text[: most + 1])
    return escaped if len(escaped) <= most else escaped[: most - 1] + "…"


ShortForeignText = Annotated[
    str, Field(max_length=64), AfterValidator(lambda text: foreign_text(text, 64))
]
ForeignText = Annotated[str, Field(max_length=MAX_CHARACTERS), AfterValidator(foreign_text)]
ForeignReason = Annotated[
    str, Field(max_length=500), AfterValidator(lambda text: foreign_text(text, 500))
]
"""Texts in a message from the other side: bounded, and printable once they are read."""
