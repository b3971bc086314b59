"""What may stand in a session's file: each beginning of one, and nothing else."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farhand._session_lines import Decided, Input, is_open, steps_in, tried_now
from farhand.errors import SessionError, SessionFinished

HEAD: dict[str, Any] = {"session": "order", "version": 1}


def begun(step: int, attempt: int = 0, **more: Any) -> dict[str, Any]:
    return {"step": step, "attempt": attempt, "fingerprint": "f", "at": 1.5, **more}


def ended(step: int, ended: str = "done", attempt: int = 0, **more: Any) -> dict[str, Any]:
    answer = {"step": step, "attempt": attempt, "ended": ended, "status": 200, "answer": {}}
    return {**answer, **more}


LINES: list[dict[str, Any]] = [
    *(begun(0), ended(0)),
    {"step": 1, "decided": ["left", 3]},
    *(begun(2), ended(2, "nothing", status=503), begun(2, 1), ended(2, "other", 1, status=502)),
    *(begun(3), ended(3, "nothing", status=422)),
    *(begun(4), ended(4)),
    {"finished": 2.5},
]


def content(*lines: Any) -> bytes:
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in lines)


WHOLE = content(HEAD, *LINES)


def test_steps_are_read_as_they_were_last() -> None:
    steps = steps_in(content(HEAD, *LINES[:-1]), "order")
    first, decision, second, third, fourth = steps
    assert isinstance(decision, Decided)
    assert decision.decided == ["left", 3]
    inputs = [each for each in (first, second, third, fourth) if isinstance(each, Input)]
    assert [each.begun.attempt for each in inputs] == [0, 1, 0, 0]
    assert [each.end and each.end.ended for each in inputs] == ["done", "other", "nothing", "done"]
    assert [each.never_happened for each in inputs] == [False, False, True, False]


def test_every_beginning_of_a_file_is_one_of_its_steps() -> None:
    """At most the last is open, and each is what it is in the whole file, or was before that."""
    boundaries = [0, *itertools.accumulate(len(line) + 1 for line in WHOLE.split(b"\n")[:-1])]
    before: list[Any] = []
    for size in range(len(WHOLE)):
        steps = steps_in(WHOLE[:size], "order")
        assert len(steps) - len(before) in (0, 1)
        assert not any(is_open(each) for each in steps[:-1])
        if size not in boundaries:
            assert steps == before
        before = steps
    with pytest.raises(SessionFinished, match="the session order came to its end"):
        steps_in(WHOLE, "order")


@pytest.mark.parametrize(
    "lines",
    [
        [begun(1)],
        [begun(0, 1)],
        [begun(-1)],
        [begun(0), begun(1)],
        [begun(0), begun(0, 1)],
        [begun(0), {"step": 1, "decided": 1}],
        [begun(0), ended(1)],
        [begun(0), ended(0, attempt=1)],
        [begun(0), ended(0), ended(0)],
        [begun(0), ended(0), begun(0, 1)],
        [begun(0), ended(0, "other"), begun(0, 1)],
        [begun(0), ended(0, "nothing"), begun(0, 2)],
        [begun(0), ended(0, "nothing"), begun(1), ended(1), begun(0, 1)],
        [ended(0)],
        [{"step": 1, "decided": 1}],
        [begun(0, at="now")],
        [begun(0, at=float("nan"))],
        [begun(0, attempt=True)],
        [begun(0, more=1)],
        [begun(0), ended(0, "perhaps")],
        [[]],
        [7],
        [None],
        ["finished"],
    ],
)
def test_line_that_cannot_follow_is_refused(lines: list[Any]) -> None:
    with pytest.raises(SessionError, match=f"no session's file: look at line {len(lines) + 1}$"):
        steps_in(content(HEAD, *lines), "order")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"some text that\nmatters to somebody", "no session's file"),
        (b"a text without an end", "no session's file"),
        (content({"session": "invoice", "version": 1}), "of the session 'invoice', and not of 'or"),
        (content({"session": "order", "version": 2, "more": []}), "newer version"),
        (b"[" * 100_000 + b"\n", "no session's file"),
        (content(HEAD) + b"[" * 100_000 + b"\n", "look at line 2"),
        (content(HEAD) + b"\xff\xfe\n", "look at line 2"),
    ],
)
def test_what_is_another_file_is_refused(said: bytes, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        steps_in(said, "order")


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 40), st.binary(max_size=40))
def test_broken_file_is_an_error_of_sessions_and_nothing_else(
    place: int, removed: int, added: bytes
) -> None:
    broken = WHOLE[:place] + added + WHOLE[place + removed :]
    try:
        steps = steps_in(broken, "order")
    except SessionError:
        return
    assert not any(is_open(each) for each in steps[:-1])


def test_answer_is_told_as_one_that_was_given_before() -> None:
    line = json.loads(json.dumps(ended(0, "other", status=502)))
    line["answer"] = {"type": "/problems/outcome-unknown", "title": "T", "detail": "D"}
    (step,) = steps_in(content(HEAD, begun(0), line), "order")
    assert isinstance(step, Input)
    assert step.end is not None
    reply = step.end.reply
    assert reply.is_replayed
    assert str(reply.refusal("key")) == "T: D"


def test_next_try_is_of_the_same_place() -> None:
    step = Input(tried_now(3, "f"))
    assert (step.begun.step, step.begun.attempt) == (3, 0)
    following = step.next_try("g")
    assert (following.step, following.attempt, following.fingerprint) == (3, 1, "g")
    assert not step.is_followed_by(following)
