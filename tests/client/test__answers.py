"""What an answer says, and whether it is a Farhand server's at all."""

import json

import pytest

from farhand._answers import Reply
from farhand.errors import InvalidRequest, MachineUnavailable, Problem

PROBLEM = {"Content-Type": "application/problem+json"}


def test_problem_is_the_error_of_its_name() -> None:
    body = {
        "type": "/problems/machine-unavailable",
        "title": "T",
        "detail": "d",
        "reason": "offline",
    }
    error = Reply(503, PROBLEM, json.dumps(body).encode()).refusal("key-1")
    assert isinstance(error, MachineUnavailable)
    assert (error.reason, error.key, error.status) == ("offline", "key-1", 503)


def test_problem_of_a_newer_server_is_a_problem_all_the_same() -> None:
    body = {"type": "/problems/too-tired", "title": "T", "detail": "d"}
    error = Reply(503, PROBLEM, json.dumps(body).encode()).refusal()
    assert type(error) is Problem
    assert str(error) == "T: d"


def test_validation_error_says_where_and_what() -> None:
    detail = [{"loc": ["body", "actions", "3", "x"], "msg": "no", "type": "t", "input": None}]
    error = Reply(422, {}, json.dumps({"detail": detail}).encode()).refusal()
    assert isinstance(error, InvalidRequest)
    assert error.wrong[0].loc == ("body", "actions", "3", "x")


@pytest.mark.parametrize(
    ("status", "media", "body"),
    [
        (503, "text/html", b"<h1>Service Unavailable</h1>"),
        (503, "application/json", b'{"type": "/problems/machine-unavailable"}'),
        (503, "application/problem+json", b'{"type": "about:blank"}'),
        (503, "application/problem+json", b"[]"),
        (422, "application/json", b'{"detail": "Unprocessable"}'),
        (422, "application/json", b"no JSON"),
    ],
)
def test_answer_of_somebody_else_is_none_of_ours(status: int, media: str, body: bytes) -> None:
    assert Reply(status, {"Content-Type": media}, body).refusal() is None


@pytest.mark.parametrize(
    ("status", "words"), [(302, "leads elsewhere"), (200, "not what this"), (404, "HTTP 404")]
)
def test_stranger_is_described(status: int, words: str) -> None:
    error = Reply(status, {}, b"").stranger("http://there")
    assert "http://there is no Farhand server" in str(error)
    assert words in str(error)


def test_replay_is_seen() -> None:
    assert Reply(200, {"Idempotency-Replayed": "true"}, b"").is_replayed
    assert not Reply(200, {}, b"").is_replayed
