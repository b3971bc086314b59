"""What a link says of the clipboard: texts put together, and questions answered; without I/O."""

from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from machine_client.work.orders import ClipboardTaken, ReadClipboard
from schemas.inputs.bodies import Operation
from schemas.inputs.clipboard_texts import pieces_of
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
    InputText,
)
from schemas.link.messages import Input

MAX_QUERIES = 16

ClipboardQuestion = InputText | ClipboardQuery | ClipboardNext


class TextBrokenError(Exception):
    """The pieces of an input's text do not fit together; ``str()`` says so."""


class InputTexts:
    """The pieces of a long text, until its input comes, which is next."""

    def __init__(self) -> None:
        self._of: tuple[UUID, int] | None = None
        self._pieces: list[str] = []
        self._length = 0

    def add(self, piece: InputText) -> None:
        """Take a piece.  Raises TextBrokenError."""
        of = (piece.command_id, piece.total)
        end = self._length + len(piece.text)
        if self._of not in (None, of) or piece.begin != self._length or end > piece.total:
            raise TextBrokenError("a piece of an input's text does not follow the one before")
        if not piece.text:
            raise TextBrokenError("a piece of an input's text is empty")
        # The text alone: however short the pieces are, they take about as much as all of it.
        self._of, self._length = of, end
        self._pieces.append(piece.text)

    def whole(self, command: Input) -> Input:
        """An input with all of its text.  Raises TextBrokenError."""
        if self._of is None:
            return command
        (command_id, total), length, pieces = self._of, self._length, self._pieces
        self.clear()
        last = command.body.get("text")
        if (
            command.command_id != command_id
            or command.operation is not Operation.CLIPBOARD_WRITE
            or not isinstance(last, str)
            or length + len(last) != total
        ):
            raise TextBrokenError("the text of an input did not come whole")
        text = "".join((*pieces, last))
        return command.model_copy(update={"body": {**command.body, "text": text}})

    def clear(self) -> None:
        """Forget what has come: its input never will."""
        self._of, self._pieces, self._length = None, [], 0


@dataclass(slots=True)
class _Answer:
    """A query, the inputs that it waits for, and what of its answer is not sent yet."""

    query: ClipboardQuery
    after: frozenset[UUID]
    is_begun: bool = False
    pieces: list[str] = field(default_factory=list)


class ClipboardAnswers:
    """What one link has asked of the clipboard."""

    def __init__(self) -> None:
        self._open: dict[int, _Answer] = {}

    @property
    def are_open(self) -> bool:
        """Whether anything was asked that is not answered."""
        return bool(self._open)

    def asked(self, query: ClipboardQuery, unfinished: Collection[UUID]) -> list[ClipboardFailed]:
        """Take a question, which waits for the inputs that came before and have not ended."""
        if len(self._open) >= MAX_QUERIES:
            return [_failed(query, "clipboard_busy", f"more than {MAX_QUERIES} questions wait")]
        self._open[query.request] = _Answer(query, frozenset(unfinished))
        return []

    def begin(self, unfinished: Collection[UUID]) -> list[ReadClipboard]:
        """Read for every question that waits for none of these inputs any more."""
        ready = [
            answer
            for answer in self._open.values()
            if not answer.is_begun and answer.after.isdisjoint(unfinished)
        ]
        for answer in ready:
            answer.is_begun = True
        return [ReadClipboard(answer.query) for answer in ready]

    def taken(self, taken: ClipboardTaken) -> list[ClipboardRead | ClipboardFailed]:
        """Take what was read; of an earlier link's question nobody hears."""
        answer = self._open.get(taken.query.request)
        # By identity: the next link numbers its questions from the beginning again.
        if answer is None or answer.query is not taken.query:
            return []
        if taken.failure is not None:
            del self._open[taken.query.request]
            return [_failed(taken.query, *taken.failure)]
        answer.pieces = [*pieces_of(taken.text)][::-1]
        return [*self._next(answer)]

    def go_on(self, following: ClipboardNext) -> list[ClipboardRead]:
        """Send the next piece of an answer; one that is not there any more, nobody waits for."""
        answer = self._open.get(following.request)
        return [] if answer is None or not answer.pieces else self._next(answer)

    def _next(self, answer: _Answer) -> list[ClipboardRead]:
        piece = answer.pieces.pop()
        if not answer.pieces:
            del self._open[answer.query.request]
        return [ClipboardRead(request=answer.query.request, text=piece, more=bool(answer.pieces))]


def _failed(query: ClipboardQuery, code: str, reason: str) -> ClipboardFailed:
    return ClipboardFailed(request=query.request, code=code, reason=reason[:500])
