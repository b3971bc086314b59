"""What is sent again, when, and what never is."""

from typing import Any

import pytest

from farhand._answers import Reply
from farhand._retrying import MOST_PAUSE_SECONDS, Tries
from schemas.http.problems import PROBLEM_TYPES
from tests.client.scripted_server import problem

AGAIN_WITH_A_KEY = {
    *("idempotency-key-in-progress", "outcome-pending", "storage-unavailable", "server-stopping"),
    *("internal-error", "machine-busy", "machine-unavailable", "server-busy", "too-many-streams"),
}
AGAIN_WITHOUT = {"machine-busy", "machine-unavailable", "server-busy", "too-many-streams"}
"""The problems that say that nothing was done."""


def reply_of(name: str, **members: Any) -> Reply:
    status = PROBLEM_TYPES[name].status
    body = problem(name, status, **members).partition(b"\r\n\r\n")[2]
    return Reply(status, {"Content-Type": "application/problem+json", "Retry-After": "2"}, body)


def pause(
    reply: Reply, *, is_repeatable: bool, waits: bool = True, seconds: float = 60
) -> float | None:
    return Tries(is_repeatable, waits, seconds).pause_after(reply, reply.refusal())


@pytest.mark.parametrize("name", PROBLEM_TYPES)
def test_each_problem_is_final_or_for_now(name: str) -> None:
    with_key = pause(reply_of(name), is_repeatable=True)
    assert with_key == (2 if name in AGAIN_WITH_A_KEY else None)
    without = pause(reply_of(name), is_repeatable=False)
    assert without == (2 if name in AGAIN_WITHOUT else None)


def test_machine_is_waited_for_unless_the_caller_does_not_want_to() -> None:
    assert pause(reply_of("machine-unavailable"), is_repeatable=True, waits=False) is None


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_page_of_a_proxy_is_weather_for_what_may_be_repeated(status: int) -> None:
    reply = Reply(status, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>")
    assert pause(reply, is_repeatable=True) is not None
    assert pause(reply, is_repeatable=False) is None


@pytest.mark.parametrize("status", [200, 204, 302, 400, 403, 404])
def test_everything_else_stands(status: int) -> None:
    assert pause(Reply(status, {}, b"x"), is_repeatable=True) is None


def test_defect_of_the_server_is_not_asked_for_ever() -> None:
    tries, reply = Tries(True, True, 60), reply_of("internal-error")
    pauses = [tries.pause_after(reply, reply.refusal()) for _ in range(4)]
    assert pauses == [2, 2, None, None]


def test_tries_without_an_answer_are_no_defects() -> None:
    tries, reply = Tries(True, True, 60), reply_of("internal-error")
    for _ in range(5):
        tries.pause_after_none(was_sent=True)
    assert tries.pause_after(reply, reply.refusal()) == 2


def test_pauses_become_longer_and_stay_bounded() -> None:
    tries = Tries(True, True, 10_000)
    pauses = [tries.pause_after_none(was_sent=True) or 0 for _ in range(40)]
    assert 0.1 <= pauses[0] <= 0.2
    assert pauses[4] > pauses[0]
    assert all(each <= MOST_PAUSE_SECONDS for each in pauses)


def test_request_that_may_have_arrived_is_repeated_only_where_that_does_no_harm() -> None:
    assert Tries(False, True, 60).pause_after_none(was_sent=True) is None
    assert Tries(False, True, 60).pause_after_none(was_sent=False) is not None
    assert Tries(True, True, 60).pause_after_none(was_sent=True) is not None


def test_no_pause_is_longer_than_the_time_that_is_left() -> None:
    assert pause(reply_of("machine-busy"), is_repeatable=True, seconds=1.9) is None
    assert Tries(True, True, 0).pause_after_none(was_sent=False) is None


@pytest.mark.parametrize(
    "retry_after", ["", "0", "soon", "-1", "²", "Wed, 21 Oct 2026 07:28:00 GMT"]
)
def test_retry_after_that_is_no_time_is_left_alone(retry_after: str) -> None:
    reply = reply_of("machine-busy")
    odd = Reply(reply.status, {**reply.headers, "Retry-After": retry_after}, reply.body)
    found = pause(odd, is_repeatable=True)
    assert found is not None
    assert 0.1 <= found <= 0.2
