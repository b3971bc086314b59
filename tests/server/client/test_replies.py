"""What an answer says to people, whatever it is."""

import pytest

from server.client.replies import Reply

PROBLEM = b'{"type":"/problems/wrong-state","title":"T","detail":"d"}'
INVALID = b'{"detail":[{"loc":["body","x"],"msg":"m","type":"t"}]}'


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (409, PROBLEM, "T: d"),
        (422, INVALID, "body.x: m"),
        (422, b"{}", "the server answered HTTP 422"),
        (500, b"<html>", "the server answered HTTP 500"),
        (500, b"null", "the server answered HTTP 500"),
        (503, b"", "the server answered HTTP 503"),
    ],
)
def test_refusal_is_a_sentence(status: int, body: bytes, words: str) -> None:
    assert Reply(status, {}, body).refusal == words


def test_problem_is_known_by_its_name() -> None:
    assert Reply(409, {}, PROBLEM).is_problem("wrong-state")
    assert not Reply(409, {}, PROBLEM).is_problem("not-found")
    assert not Reply(500, {}, b"<html>").is_problem("wrong-state")
