"""Texts of a clipboard: which ones there are, how long they may be, and the pieces they travel in.

No message repeats any of a text: it may be a password.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError, to_json

Selection = Literal["clipboard", "primary"]
"""Which of a desktop's clipboards.

``clipboard`` is what people copy to and paste from; ``primary`` is what X11 pastes with the middle
button: what was marked last.
"""

MAX_CLIPBOARD_BYTES: Final = 1024 * 1024
"""The longest text, as UTF-8."""

PIECE_CHARACTERS: Final = 128 * 1024
"""So many characters are one piece of a text, unless they need too many bytes."""

PIECE_BYTES: Final = 192 * 1024
"""The longest piece, as JSON."""

_LEAST_PIECE: Final = 32 * 1024
"""Characters that are always few enough: JSON has at most six bytes for each."""


def utf8_length(text: str) -> int | None:
    """How many bytes a text has as UTF-8; None where it is no Unicode text."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        return None


def _check(text: str) -> str:
    length = utf8_length(text)
    if length is None:
        raise PydanticCustomError("text_not_unicode", "half of a surrogate pair is no character")
    if length > MAX_CLIPBOARD_BYTES:
        raise PydanticCustomError(
            "text_too_long",
            "the text has {bytes} bytes as UTF-8, and a clipboard takes {max_bytes}",
            {"bytes": length, "max_bytes": MAX_CLIPBOARD_BYTES},
        )
    if (place := text.find("\0")) >= 0:
        # Many programs would take it for the end, and paste a part.
        raise PydanticCustomError(
            "text_with_null",
            "character {position} is U+0000, which many programs take for the text's end",
            {"position": place + 1},
        )
    return text


ClipboardText = Annotated[
    str,
    Field(description="At most 1 MiB as UTF-8, without U+0000; kept exactly as it is."),
    AfterValidator(_check),
]
"""A text that can be put into a clipboard."""


def pieces_of(text: str) -> Iterator[str]:
    """A text in pieces of at most PIECE_BYTES as JSON; one at least, and none but it is empty."""
    begin = 0
    while True:
        piece = _piece_at(text, begin)
        yield piece
        begin += len(piece)
        if begin >= len(text):
            return


def _piece_at(text: str, begin: int) -> str:
    size = PIECE_CHARACTERS
    while True:
        piece = text[begin : begin + size]
        if size <= _LEAST_PIECE or len(to_json(piece)) <= PIECE_BYTES:
            return piece
        size //= 2
