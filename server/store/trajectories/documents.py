"""A trajectory as it is stored: its document, and the segments of steps that outgrew it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from server.store.mongodb.documents import Document, own_id, scoped_id

NO_STEPS: Final = b"[]"
NO_VALUES: Final = b"{}"


@dataclass(frozen=True, slots=True)
class Segment:
    """The first ``parts`` parts, ``size`` bytes in all, of a text in the collection of parts.

    Such a text only ever grows, so that trajectories can share the beginning of one.
    """

    id: UUID
    parts: int
    size: int

    def document(self) -> Document:
        """What the trajectory's document has of it."""
        return {"id": self.id, "parts": self.parts, "size": self.size}


@dataclass(frozen=True)
class StoredTrajectory:
    """A trajectory as it is stored; the free-form parts are JSON text.

    Its steps, in order: those of the segments, those it was created with (``trajectory_data``, an
    array), those appended since (``pieces``, each without the brackets of an array).  New parts go
    to ``own_segment``; a duplicate has none of its own before it outgrows its document itself.
    """

    id: UUID
    organization_id: UUID
    user_id: UUID | None
    workflow_id: UUID
    run_id: UUID | None
    name: str | None
    description: str | None
    is_approved: bool
    is_generated: bool
    step_count: int
    trajectory_data: bytes | None
    dimensions: bytes
    original_input_values: bytes
    created_at: datetime
    updated_at: datetime
    version: int
    pieces: Sequence[bytes] = ()
    segments: tuple[Segment, ...] = ()
    own_segment: UUID | None = None

    @property
    def inline_steps(self) -> list[memoryview]:
        """The steps in the document itself, uncopied texts to be joined with commas."""
        first = memoryview(self.trajectory_data or NO_STEPS)[1:-1]
        return [text for text in (first, *(memoryview(piece) for piece in self.pieces)) if text]

    @property
    def inline_size(self) -> int:
        """How many bytes the steps in the document itself have."""
        return sum(map(len, self.inline_steps))


def document_of(trajectory: StoredTrajectory, search: Mapping[str, object]) -> Document:
    """The document to store; ``search`` are the fields that it is found by.

    Most trajectories are never appended to: what only those need is left out of the others.
    """
    document: Document = {
        "_id": scoped_id(trajectory.organization_id, trajectory.id),
        **vars(trajectory),
        **search,
        "inline_size": trajectory.inline_size,
        "segments": [segment.document() for segment in trajectory.segments],
    }
    del document["id"]
    for name in ("pieces", "segments", "own_segment"):
        if not document[name]:
            del document[name]
    return document


def stored_trajectory(document: Document) -> StoredTrajectory:
    """The trajectory in a document; one that was read without its steps has none."""
    return StoredTrajectory(
        id=own_id(document["_id"]),
        organization_id=document["organization_id"],
        user_id=document["user_id"],
        workflow_id=document["workflow_id"],
        run_id=document["run_id"],
        name=document["name"],
        description=document["description"],
        is_approved=document["is_approved"],
        is_generated=document["is_generated"],
        step_count=document["step_count"],
        trajectory_data=document.get("trajectory_data"),
        dimensions=document["dimensions"],
        original_input_values=document["original_input_values"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
        # A document from before there were versions counts as 0; its first change makes it 1.
        version=document.get("version", 0),
        pieces=tuple(document.get("pieces", ())),
        segments=tuple(
            Segment(each["id"], each["parts"], each["size"])
            for each in document.get("segments", ())
        ),
        own_segment=document.get("own_segment"),
    )
