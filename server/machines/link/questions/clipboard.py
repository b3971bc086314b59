"""The server's end of what is asked of a machine's clipboard: a state machine without I/O.

`server.machines.link.link` asks it while the link is up, and closes the link where it raises.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, utf8_length
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
)
from server.machines.link.errors import UnexpectedAnswerError

LEAST_PIECE: Final = 1024
"""Characters of a piece that is not the last: a text comes in few pieces."""


@dataclass(frozen=True, slots=True)
class ClipboardArrived:
    """The answer to a query: all of it."""

    request: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ClipboardRefused:
    """A query has no answer."""

    request: int
    code: str
    reason: str


ClipboardArrival = ClipboardArrived | ClipboardRefused
ClipboardAnswer = ClipboardRead | ClipboardFailed


class ClipboardLink:
    """What was asked of one machine's clipboard, and what of the answers has come."""

    def __init__(self, server_time: Callable[[], int]) -> None:
        self._server_time = server_time
        self._pieces: dict[int, list[str]] = {}

    def asked(self, query: ClipboardQuery) -> None:
        """Note what is about to be sent; requests have numbers that grow."""
        self._pieces[query.request] = []

    def answered(self, answer: ClipboardAnswer) -> ClipboardNext | ClipboardArrival:
        """Take what the machine says; what is to be sent, or what has arrived.

        A text that nobody waits for any more is taken to its end: the machine holds it until then.
        Raises UnexpectedAnswerError.
        """
        request = answer.request
        pieces = self._pieces.get(request)
        if pieces is None:
            raise UnexpectedAnswerError("told of its clipboard what nobody has asked")
        if isinstance(answer, ClipboardFailed):
            del self._pieces[request]
            return ClipboardRefused(request, answer.code, answer.reason)
        if answer.more and len(answer.text) < LEAST_PIECE:
            raise UnexpectedAnswerError("told of its clipboard in pieces that are too small")
        pieces.append(answer.text)
        text = "" if answer.more else "".join(pieces)
        if sum(map(len, pieces)) > MAX_CLIPBOARD_BYTES or _is_too_long(text):
            raise UnexpectedAnswerError("told of its clipboard more than a clipboard may have")
        if answer.more:
            return ClipboardNext(request=request, server_time=self._server_time())
        del self._pieces[request]
        return ClipboardArrived(request, text)


def _is_too_long(text: str) -> bool:
    length = utf8_length(text)
    return length is None or length > MAX_CLIPBOARD_BYTES
