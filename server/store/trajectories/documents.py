"""A trajectory as it is stored: its document, and the segments of steps that outgrew it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from server.store.mongodb.documents import Document, fields_of, own_id, scoped_id, uuid_text
from server.store.trajectories.reviews import (
    OPEN_REVIEW,
    StoredReview,
    review_fields,
    stored_review,
)

NO_STEPS: Final = b"[]"
NO_VALUES: Final = b"{}"

LIGHT_FIELDS: Final = (
    "user_id",
    "workflow_id",
    "run_id",
    "name",
    "description",
    "is_approved",
    "has_been_approved",
    "is_generated",
    "is_main",
    "created_at",
    "updated_at",
    "dimensions",
    "original_input_values",
    "step_count",
    "content_hash",
    "review",
    "machine_id",
    "pictures_until",
    "pictures_expired_at",
)
"""What is read of a trajectory for a list without steps.

MongoDB takes names faster than what to leave out.
"""

_LEFT_OUT_EMPTY: Final = (
    *("is_main", "pieces", "segments", "own_segment"),
    *("steps_digest", "content_hash", "review", "authors", "machine_id"),
    *("has_pictures", "pictures_until", "pictures_expired_at"),
)

LISTED_FIELDS: Final = (*LIGHT_FIELDS, "trajectory_data", "pieces", "segments", "inline_size")
"""What is read of a trajectory for a list."""


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

    ``steps_digest`` and ``content_hash`` are there once it is generated; ``authors`` are all who
    made or changed what the hash is of.  ``machine_id`` is the machine that it was recorded on, or
    what it is a duplicate of; None where it was not recorded.

    ``has_pictures`` is whether its steps refer to pictures that are kept for it, and
    ``pictures_until`` is how long they are; None where that is for ever.  ``pictures_expired_at``
    is when they went the last time.
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
    has_been_approved: bool = False
    is_main: bool = False
    pieces: Sequence[bytes] = ()
    segments: tuple[Segment, ...] = ()
    own_segment: UUID | None = None
    steps_digest: bytes | None = None
    content_hash: bytes | None = None
    review: StoredReview = OPEN_REVIEW
    authors: tuple[str, ...] = ()
    machine_id: str | None = None
    has_pictures: bool = False
    pictures_until: datetime | None = None
    pictures_expired_at: datetime | None = None

    @property
    def inline_steps(self) -> list[memoryview]:
        """The steps in the document itself, uncopied texts to be joined with commas."""
        return _inline_steps(self.trajectory_data, self.pieces)

    @property
    def inline_size(self) -> int:
        """How many bytes the steps in the document itself have."""
        return sum(map(len, self.inline_steps))


class ListedTrajectory(NamedTuple):
    """A trajectory as a list tells it, made with little work, as there are a thousand at once.

    ``fields`` are those that JSON has first, in its order and ready to be written; the others are
    what they are in a :class:`StoredTrajectory`.
    """

    fields: dict[str, Any]
    organization_id: UUID
    dimensions: bytes
    original_input_values: bytes
    trajectory_data: bytes | None
    pieces: Sequence[bytes]
    segments: Sequence[Segment]

    @property
    def inline_steps(self) -> list[memoryview]:
        """The steps in the document itself, uncopied texts to be joined with commas."""
        return _inline_steps(self.trajectory_data, self.pieces)


def _inline_steps(created_with: bytes | None, pieces: Sequence[bytes]) -> list[memoryview]:
    first = memoryview(created_with or NO_STEPS)[1:-1]
    return [text for text in (first, *(memoryview(piece) for piece in pieces)) if text]


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
    document["review"] = None if trajectory.review == OPEN_REVIEW else trajectory.review.document()
    for name in _LEFT_OUT_EMPTY:
        if not document[name]:
            del document[name]
    return document


def stored_trajectory(document: Document) -> StoredTrajectory:
    """The trajectory in a document; one that was read without its steps has none."""
    fields = {"trajectory_data": None, **fields_of(StoredTrajectory, document)}
    fields["pieces"] = tuple(document.get("pieces", ()))
    fields["segments"] = tuple(
        Segment(each["id"], each["parts"], each["size"]) for each in document.get("segments", ())
    )
    fields["review"] = stored_review(document.get("review"))
    fields["authors"] = tuple(document.get("authors", ()))
    return StoredTrajectory(id=own_id(document["_id"]), **fields)


def listed_trajectory(organization_id: UUID, document: Document) -> ListedTrajectory:
    """The trajectory of an organization in a document decoded by ``QUICK_CODEC_OPTIONS``."""
    user_id, run_id = document["user_id"], document["run_id"]
    content_hash = document.get("content_hash")
    until, expired_at = document.get("pictures_until"), document.get("pictures_expired_at")
    return ListedTrajectory(
        {
            "id": uuid_text(document["_id"][16:]),
            "workflow_id": uuid_text(document["workflow_id"]),
            "is_approved": document["is_approved"],
            "has_been_approved": document["has_been_approved"],
            "is_generated": document["is_generated"],
            "is_main": document.get("is_main", False),
            "created_at": _time_text(document["created_at"]),
            "updated_at": _time_text(document["updated_at"]),
            "name": document["name"],
            "description": document["description"],
            "run_id": run_id and uuid_text(run_id),
            "content_hash": content_hash and content_hash.hex(),
            "review": review_fields(document.get("review"), uuid_text, _time_text),
            "user_id": user_id and uuid_text(user_id),
            "organization_id": organization_id,
            "machine_id": document.get("machine_id"),
            "pictures_until": until and _time_text(until),
            "pictures_expired_at": expired_at and _time_text(expired_at),
            "step_count": document["step_count"],
        },
        organization_id,
        document["dimensions"],
        document["original_input_values"],
        document.get("trajectory_data"),
        document.get("pieces", ()),
        [
            Segment(UUID(bytes=each["id"]), each["parts"], each["size"])
            for each in document.get("segments", ())
        ],
    )


def _time_text(time: datetime) -> str:
    """What ``format_time`` makes of a time in UTC, of one without a zone."""
    return time.isoformat(timespec="milliseconds") + "Z"
