"""What the verdict says of copied texts: doctored histories, each with one thing wrong."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.arrivals import Copy
from tests.faults.history import HAS_CONTROL, CommandHistory, Fault, FinalAnswer
from tests.faults.inputs import COPY, Input
from tests.faults.judge import judge
from tests.faults.test_verdict import (
    COMPLETED,
    EXPIRED,
    NEVER,
    ORGANIZATION,
    PENDING,
    REUSED,
    UNKNOWN,
    answered,
    evidence,
    journal,
)
from tests.faults.verdict import Broken, Evidence

AT = 0.2


def copying(text: str, selection: str = "clipboard") -> Input:
    body = {"text": text, "selection": selection}
    return Input(COPY, body, copied=(selection, text.encode()))


TEXT, OTHER = copying("a text"), copying("another")
SEEN, UNSEEN = Copy("clipboard", b"a text", AT), Copy("clipboard", None, AT)


def copied(*answers: FinalAnswer, seen: Iterable[Copy] = (), **changes: Any) -> Evidence:
    """A run of one command that copies, answered so, of which these were seen."""
    run = evidence(*answers, body=TEXT, copies={"desk": list(seen)}, **changes)
    run.commands[0].other_input = OTHER
    return run


def beside(run: Evidence, body: Input, answer: FinalAnswer, key: str = "beside") -> Evidence:
    """The same with another command at the same time."""
    other = CommandHistory(1, key, "desk", body, body, [answered(0.0, answer)])
    identifier = other.id(ORGANIZATION)
    return replace(
        run,
        commands=[*run.commands, other],
        ledger={**run.ledger, identifier: ("DONE", answer)},
        journals={**run.journals, identifier: "INTENT"},
    )


def without_key(answer: FinalAnswer, *seen: Copy) -> Evidence:
    run = copied(answer, seen=seen)
    run.commands[0].is_keyed = False
    return run


def with_other_body(*seen: Copy) -> Evidence:
    run = copied(COMPLETED, seen=[SEEN, *seen])
    run.commands[0].other_tries.append(answered(5.0, REUSED))
    return run


IN_CONTROL = [Fault(HAS_CONTROL, "desk", AT - 0.1, AT + 1)]
UNAVAILABLE = FinalAnswer(503, b'{"type": "/problems/machine-unavailable"}')
BEGUN = journal("INTENT")

GOOD = {
    "copied": copied(COMPLETED, seen=[SEEN]),
    "copied after others": copied(PENDING, COMPLETED, seen=[SEEN]),
    "copied, and replaced at once": copied(COMPLETED, seen=[UNSEEN]),
    "two at once": beside(copied(COMPLETED, seen=[UNSEEN, UNSEEN]), OTHER, COMPLETED),
    "two at once, one of which was never asked for": beside(
        copied(COMPLETED, seen=[UNSEEN]), OTHER, UNKNOWN
    ),
    "begun and not finished": copied(UNKNOWN, journals=BEGUN),
    "begun, copied and not finished": copied(UNKNOWN, seen=[SEEN], journals=BEGUN),
    "never": copied(NEVER),
    "refused without a key": without_key(UNAVAILABLE),
    "another body refused": with_other_body(),
    "copied while nobody had control": copied(
        COMPLETED, seen=[SEEN], faults=[replace(IN_CONTROL[0], began_at=AT + 0.1)]
    ),
}

BAD = {
    "twice": (copied(COMPLETED, seen=[SEEN, SEEN]), Broken.DOUBLE),
    "twice, and once unseen": (copied(COMPLETED, seen=[SEEN, UNSEEN]), Broken.STRAY),
    "twice, and never seen": (copied(COMPLETED, seen=[UNSEEN, UNSEEN]), Broken.STRAY),
    "twice, and nobody knows": (copied(UNKNOWN, seen=[SEEN, SEEN], journals=BEGUN), Broken.DOUBLE),
    "twice without a key": (without_key(COMPLETED, SEEN, SEEN), Broken.DOUBLE),
    "completed without": (copied(COMPLETED), Broken.COMPLETED_WITHOUT),
    "a part of it": (
        copied(COMPLETED, seen=[Copy("clipboard", b"a te", AT)]),
        Broken.COMPLETED_WITHOUT,
    ),
    "copied elsewhere": (
        copied(COMPLETED, seen=[Copy("primary", b"a text", AT)]),
        Broken.COMPLETED_WITHOUT,
    ),
    "another was unseen for it": (
        beside(copied(COMPLETED, seen=[UNSEEN]), OTHER, COMPLETED),
        Broken.COMPLETED_WITHOUT,
    ),
    "unseen long after": (
        copied(COMPLETED, seen=[UNSEEN._replace(at=9.0)]),
        Broken.COMPLETED_WITHOUT,
    ),
    "never, and copied": (copied(NEVER, seen=[SEEN]), Broken.NEVER_WITH),
    "never, and copied unseen": (copied(NEVER, seen=[UNSEEN]), Broken.STRAY),
    "expired, and copied": (copied(EXPIRED, seen=[SEEN]), Broken.NEVER_WITH),
    "refused without a key, and copied": (without_key(UNAVAILABLE, SEEN), Broken.NEVER_WITH),
    "another body copied": (with_other_body(Copy("clipboard", b"another", AT)), Broken.STRAY),
    "a text of nobody": (
        copied(COMPLETED, seen=[SEEN, Copy("clipboard", b"?", AT)]),
        Broken.STRAY,
    ),
    "while somebody had control": (
        copied(COMPLETED, seen=[SEEN], faults=IN_CONTROL),
        Broken.BESIDE_CONTROL,
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_promise_that_is_kept_is_seen_as_kept(name: str) -> None:
    verdict = judge(GOOD[name])
    assert verdict.is_good, verdict.violations


@pytest.mark.parametrize("name", BAD)
def test_broken_promise_is_seen(name: str) -> None:
    run, broken = BAD[name]
    assert broken in judge(run).counts()


def test_what_was_copied_is_told_in_short() -> None:
    text = "a long text " * 10_000
    twice = [SEEN._replace(text=text.encode())] * 2
    run = evidence(COMPLETED, body=copying(text), copies={"desk": twice})
    verdict = judge(run)
    assert "texts that were copied" in verdict.table()
    (double,) = (each for each in verdict.violations if each.broken is Broken.DOUBLE)
    described = verdict.described(double)
    assert "clipboard given b'a long text a long text" in described
    assert len(described) < 2000
