"""The rules of reviews, without a database."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from schemas.steps.reviews import NewReview
from server.errors import WrongState
from server.trajectories.contents import with_hashes
from server.trajectories.reviewing import (
    MOST_AUTHORS,
    author_tokens,
    decided,
    edited,
    is_own_work,
    is_runnable,
    refused_decision,
    with_author,
)
from tests.trajectories import EDITOR, stored

OPEN = replace(with_hashes(stored()), authors=(EDITOR.author,))
SEEN = (OPEN.content_hash or b"").hex()
OTHER = EDITOR.model_copy(update={"user_id": UUID(int=5)})


def decision(name: str, seen: str = SEEN) -> NewReview:
    return NewReview.model_validate({"decision": name, "content_hash": seen})


APPROVED = replace(OPEN, **decided(OPEN, decision("approve"), OTHER))


def test_only_the_approved_content_is_runnable() -> None:
    assert not is_runnable(OPEN)
    assert is_runnable(APPROVED)
    assert not is_runnable(replace(APPROVED, content_hash=b"another"))
    assert not is_runnable(replace(APPROVED, content_hash=None))
    assert not is_runnable(replace(OPEN, is_approved=True, has_been_approved=True))
    assert not is_runnable(replace(APPROVED, **edited(APPROVED, EDITOR)))


@pytest.mark.parametrize(
    ("fields", "name", "seen", "words"),
    [
        ({}, "approve", SEEN, None),
        ({}, "approve", "0" * 64, f"its content_hash is {SEEN}"),
        ({"content_hash": None, "is_generated": False}, "reject", SEEN, "pending generation"),
        ({"content_hash": None}, "approve", SEEN, "set is_generated to true again"),
        ({}, "withdraw", SEEN, "it is not approved"),
        ({"review": APPROVED.review}, "withdraw", SEEN, None),
    ],
)
def test_decision_is_about_the_content_that_is_there(
    fields: dict[str, Any], name: str, seen: str, words: str | None
) -> None:
    refusal = refused_decision(replace(OPEN, **fields), decision(name, seen))
    assert (refusal is None) if words is None else words in (refusal or "")


def test_author_is_who_made_or_changed_it() -> None:
    assert is_own_work(OPEN, EDITOR, (), ())
    assert not is_own_work(OPEN, OTHER, (), ())
    assert is_own_work(replace(OPEN, **edited(OPEN, OTHER)), OTHER, (), ())
    # One from before its authors were kept has its user.
    assert is_own_work(replace(OPEN, authors=(), user_id=OTHER.user_id), OTHER, (), ())


def test_user_behind_the_token_of_an_author_is_one() -> None:
    token = EDITOR.model_copy(update={"user_id": None})
    authors = (f"user:{OTHER.user_id}", token.author)
    assert author_tokens(replace(OPEN, authors=authors)) == [token.token_id]
    behind, other = {UUID(int=5)}, UUID(int=6)
    of_token = replace(OPEN, user_id=None, authors=("token:of another",))
    assert is_own_work(of_token, OTHER, (), behind)
    assert is_own_work(of_token, token, [other, *behind], behind)
    assert not is_own_work(of_token, token, [other], behind)
    # Whoever has a user is nobody else, whoever made their token.
    somebody = OTHER.model_copy(update={"user_id": other})
    assert not is_own_work(of_token, somebody, behind, behind)


def test_authors_are_bounded_and_none_is_forgotten() -> None:
    many = tuple(f"token:{number}" for number in range(MOST_AUTHORS))
    assert with_author((*many[1:], EDITOR.author), EDITOR)[-1] == EDITOR.author
    with pytest.raises(WrongState, match="200 users and tokens"):
        with_author(many, EDITOR)
