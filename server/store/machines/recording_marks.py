"""That a machine is recorded: marks in its document, so that whoever reads it reads them as well.

A mark has what the node with the machine's link needs before it takes an input.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from server.store.mongodb.documents import Document, fields_of


@dataclass(frozen=True)
class RecordingMark:
    """A recording that runs: whose inputs it takes, and whether it may keep what is typed.

    ``secret`` is that somebody said that what is typed now is one.
    ``of_all`` is whether it takes everybody's inputs, and not those of its own token alone.
    """

    id: UUID
    by: str
    token_id: UUID
    since: datetime
    of_all: bool
    keep_texts: bool
    secret: bool = False

    def document(self) -> Document:
        """What the machine's document has of it."""
        return {**vars(self)}


def marks_of(machine: Document) -> Sequence[RecordingMark]:
    """The marks in a machine's document, the first first."""
    return tuple(
        RecordingMark(**fields_of(RecordingMark, mark)) for mark in machine.get("recordings", ())
    )
