from uuid import UUID

import pytest
from pydantic import ValidationError

from schemas.steps.reviews import MAX_COMMENT_CHARACTERS, Editor, NewReview, authors_with

HASH = "0a" * 32


def test_author_is_the_user_or_else_the_token() -> None:
    one = Editor(token_id=UUID(int=1), token_name="n", user_id=None)
    assert one.author == f"token:{UUID(int=1)}"
    other = one.model_copy(update={"user_id": UUID(int=1)})
    assert other.author == f"user:{UUID(int=1)}"
    assert authors_with(UUID(int=1)) == [other.author, one.author]


def test_decision_names_the_content_that_it_is_about() -> None:
    body = {"decision": "approve", "content_hash": HASH}
    assert NewReview.model_validate(body).comment is None
    for wrong in (
        {"decision": "approve"},
        {"content_hash": HASH},
        {**body, "content_hash": HASH.upper()},
        {**body, "comment": "x" * (MAX_COMMENT_CHARACTERS + 1)},
        {**body, "is_approved": True},
    ):
        with pytest.raises(ValidationError):
            NewReview.model_validate(wrong)
