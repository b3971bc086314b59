"""What crosses the bus, and what is refused of it."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.bus.messages import (
    Answered,
    Done,
    FindLink,
    MessageRefusedError,
    NextPicture,
    decode_reply,
    decode_request,
)

FIND = FindLink(organization_id=UUID(int=1), machine_id="desk-1")


def test_request_and_reply_arrive_as_they_were() -> None:
    assert decode_request(FIND.encode()) == FIND
    watching = NextPicture(
        organization_id=UUID(int=1),
        machine_id="desk-1",
        viewer=UUID(int=2),
        width=None,
        height=3,
        quality=4,
        rate=0.5,
    )
    assert decode_request(watching.encode()) == watching
    assert decode_reply(Done().encode()) == (Done(), b"")


@given(content=st.binary(max_size=100))
def test_content_arrives_byte_for_byte(content: bytes) -> None:
    answered = Answered(status=200, content_type="a\nb", is_replayed=True)
    assert decode_reply(answered.encode(content)) == (answered, content)


def test_fields_of_a_newer_node_are_ignored() -> None:
    message = json.loads(FIND.encode()) | {"of_tomorrow": [1]}
    assert decode_request(json.dumps(message).encode()) == FIND


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 2}, "version"),
        ({"version": "1"}, "version"),
        ({"version": 2, "type": "of tomorrow"}, "version"),
        ({"type": "of tomorrow"}, "malformed"),
        ({"type": None}, "malformed"),
        ({"organization_id": "mine"}, "malformed"),
        ({"machine_id": 7}, "malformed"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_reason(
    change: dict[str, Any], why: str
) -> None:
    message = json.dumps(json.loads(FIND.encode()) | change).encode()
    for decode in (decode_request, decode_reply):
        with pytest.raises(MessageRefusedError, match=rf"^{why}$"):
            decode(message)


@given(message=st.binary(max_size=200))
def test_any_bytes_are_refused_or_understood(message: bytes) -> None:
    for decode in (decode_request, decode_reply):
        with pytest.raises(MessageRefusedError, match=r"^malformed$"):
            decode(message)
