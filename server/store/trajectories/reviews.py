"""What a trajectory's document has of its review, and of who made its content."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from schemas.steps.reviews import Editor, ReviewState
from server.store.mongodb.documents import Document


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review as it is stored."""

    state: ReviewState
    by: Editor | None = None
    at: datetime | None = None
    comment: str | None = None
    content_hash: bytes | None = None

    def document(self) -> Document:
        """What the trajectory's document has of it."""
        return {
            "state": self.state,
            "by": self.by and self.by.model_dump(),
            "at": self.at,
            "comment": self.comment,
            "content_hash": self.content_hash,
        }


OPEN_REVIEW: Final = StoredReview("open")
"""Nobody has decided yet; a document has nothing of it."""

_OPEN_FIELDS: Final = {**OPEN_REVIEW.document()}


def stored_review(document: Document | None) -> StoredReview:
    """The review in a trajectory's document; None is none."""
    if document is None:
        return OPEN_REVIEW
    by = document["by"]
    return StoredReview(**{**document, "by": by and Editor(**by)})


def review_fields(
    review: Document | None,
    id_text: Callable[[Any], str],
    time_text: Callable[[datetime], str],
) -> dict[str, Any]:
    """A review's document as JSON has it, with its ids and its time written as they are said to."""
    if review is None:
        return _OPEN_FIELDS
    by, at, content_hash = review["by"], review["at"], review["content_hash"]
    return {
        **review,
        "by": by
        and {
            **by,
            "token_id": id_text(by["token_id"]),
            "user_id": by["user_id"] and id_text(by["user_id"]),
        },
        "at": at and time_text(at),
        "content_hash": content_hash and content_hash.hex(),
    }
