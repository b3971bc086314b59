"""Reviews as documents, read one by one and in lists."""

from datetime import UTC, datetime
from uuid import UUID

from schemas.steps.reviews import Editor
from schemas.values.times import format_time
from server.store.mongodb.documents import uuid_text
from server.store.trajectories.reviews import (
    OPEN_REVIEW,
    StoredReview,
    review_fields,
    stored_review,
)

BY = Editor(token_id=UUID(int=1), token_name="n", user_id=UUID(int=2))
AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
REVIEW = StoredReview("approved", BY, AT, "c", b"\x0f" * 32)


def test_review_comes_back() -> None:
    assert stored_review(REVIEW.document()) == REVIEW
    assert stored_review(None) == OPEN_REVIEW
    assert stored_review(StoredReview("rejected").document()) == StoredReview("rejected")


def test_review_is_written_the_same_however_its_ids_are_read() -> None:
    expected = {
        "state": "approved",
        "by": {"token_id": str(UUID(int=1)), "token_name": "n", "user_id": str(UUID(int=2))},
        "at": "2026-01-02T03:04:05.678Z",
        "comment": "c",
        "content_hash": "0f" * 32,
    }
    assert review_fields(REVIEW.document(), str, format_time) == expected
    quick = {**REVIEW.document(), "by": {**BY.model_dump(), "token_id": UUID(int=1).bytes,
                                         "user_id": UUID(int=2).bytes}}  # fmt: skip
    assert review_fields(quick, uuid_text, format_time) == expected
    assert review_fields(None, uuid_text, format_time)["state"] == "open"
