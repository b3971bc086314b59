"""The messages about a machine's clipboard.

A text can be longer than a message, so it travels in pieces.  One that is to be copied comes before
its input, all in one go; one that was read comes piece by piece, each when it is asked for, so that
no acknowledgement waits behind all of it.
"""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.inputs.clipboard_texts import (
    MAX_CLIPBOARD_BYTES,
    PIECE_CHARACTERS,
    Selection,
    pieces_of,
)
from schemas.link.message import Message
from schemas.values.foreign_texts import ForeignReason

Piece = Annotated[str, Field(max_length=PIECE_CHARACTERS)]
Length = Annotated[int, Field(ge=0, le=MAX_CLIPBOARD_BYTES)]


class InputText(Message):
    """A piece of the text of the next input, whose own ``text`` is the last piece.

    ``begin`` is how many characters came before, and ``total`` how many there will be at the end:
    a text that is not whole is not copied.
    """

    type: Literal["input_text"] = "input_text"
    link_id: UUID
    command_id: UUID
    begin: Length
    total: Length
    text: Piece
    server_time: int


class ClipboardQuery(Message):
    """What is in the clipboard, after all inputs that came before?"""

    type: Literal["clipboard_query"] = "clipboard_query"
    request: int = Field(ge=0, description="Grows with each on a link.")
    selection: Selection
    server_time: int


class ClipboardNext(Message):
    """Go on with the text that is the answer to a query."""

    type: Literal["clipboard_next"] = "clipboard_next"
    request: int = Field(ge=0)
    server_time: int


class ClipboardRead(Message):
    """A piece of what is in the clipboard; with ``more``, the next one waits to be asked for."""

    type: Literal["clipboard_read"] = "clipboard_read"
    request: int = Field(ge=0, lt=2**63)
    text: Piece
    more: bool = False


class ClipboardFailed(Message):
    """The clipboard could not be read; ``reason`` holds nothing of what is in it."""

    type: Literal["clipboard_failed"] = "clipboard_failed"
    request: int = Field(ge=0, lt=2**63)
    code: str = Field(max_length=64, pattern="^[a-z_]+$")
    reason: ForeignReason


def input_texts(
    link_id: UUID, command_id: UUID, text: str, server_time: int
) -> tuple[list[InputText], str]:
    """The messages that go before an input with a long text, and what is left for its own."""
    *before, last = pieces_of(text)
    messages, begin = [], 0
    for piece in before:
        message = InputText(
            link_id=link_id,
            command_id=command_id,
            begin=begin,
            total=len(text),
            text=piece,
            server_time=server_time,
        )
        messages.append(message)
        begin += len(piece)
    return messages, last
