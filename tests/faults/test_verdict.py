"""The verdict sees every broken promise: doctored histories, each with one thing wrong."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from tests.faults.history import CommandHistory, Fault, FinalAnswer, Place, Try
from tests.faults.verdict import Broken, Evidence, JournalLoss, judge

ORGANIZATION = UUID("00000000-0000-4000-8000-0000000000a1")
PLACE, OTHER_PLACE = Place(10, 20), Place(30, 40)
COMPLETED = FinalAnswer(200, b'{"status": "completed"}')
REUSED = FinalAnswer(422, b'{"detail": [{"type": "idempotency_key_reused"}]}')
REFUSED = FinalAnswer(422, b'{"detail": [{"type": "coordinates_outside_display"}]}')
PENDING = FinalAnswer(504, b'{"type": "/problems/outcome-pending"}')


def problem(status: int, name: str, **members: Any) -> FinalAnswer:
    body = {"type": f"/problems/{name}", "status": status, "final": True, **members}
    return FinalAnswer(status, json.dumps(body).encode())


NEVER = problem(503, "not-carried-out")
EXPIRED = problem(504, "input-expired")
UNKNOWN = problem(502, "outcome-unknown")
FAILED = problem(502, "input-failed")


def told(at: float, answer: FinalAnswer) -> Try:
    return Try(at, at + 0.5, "port 1", answer.status, answer.body)


def evidence(*answers: FinalAnswer, presses: int = 1, wanted: int = 1, **changes: Any) -> Evidence:
    """A run of one command, answered so and pressed so often."""
    tries = [told(float(number), answer) for number, answer in enumerate(answers)]
    command = CommandHistory(0, "key", "desk", "mouse/click", {"x": 10}, PLACE, wanted, tries)
    final = command.first_final()
    return replace(
        Evidence(
            organization_id=ORGANIZATION,
            commands=[command],
            faults=[Fault("kill", "server", 0.1, 0.2)],
            presses={"desk": {PLACE: presses} if presses else {}},
            journals={},
            ledger={command.id(ORGANIZATION): ("DONE", final.answer if final else None)},
        ),
        **changes,
    )


def journal(state: str) -> dict[UUID, str]:
    return {evidence(COMPLETED).commands[0].id(ORGANIZATION): state}


def refused(presses: dict[Place, int], answer: FinalAnswer = REFUSED) -> Evidence:
    """A run of one command that the machine must refuse."""
    run = evidence(answer, presses=0)
    run.commands[0].place = None
    run.commands[0].presses = 0
    return replace(run, presses={"desk": presses})


def with_other_body(answer: FinalAnswer, presses: int = 0) -> Evidence:
    run = evidence(COMPLETED)
    run.commands[0].other_place = OTHER_PLACE
    run.commands[0].other_tries.append(told(5.0, answer))
    return replace(run, presses={"desk": {PLACE: 1} | ({OTHER_PLACE: presses} if presses else {})})


def looked(answer: FinalAnswer) -> Evidence:
    """A run of one completed command, at which somebody looked."""
    run = evidence(COMPLETED)
    seen = {"final": True, "answer": {"status": answer.status, "body": json.loads(answer.body)}}
    run.commands[0].looks.append(told(3.0, FinalAnswer(200, json.dumps(seen).encode())))
    run.commands[0].looks.append(told(0.0, FinalAnswer(200, b'{"final": false, "answer": null}')))
    return run


GOOD = {
    "looked at": looked(COMPLETED),
    "completed": evidence(COMPLETED),
    "completed after others": evidence(PENDING, COMPLETED, COMPLETED),
    "three presses as wanted": evidence(COMPLETED, presses=3, wanted=3),
    "never": evidence(NEVER, NEVER, presses=0),
    "expired": evidence(EXPIRED, presses=0),
    "failed in part": evidence(FAILED, presses=1, wanted=2),
    "begun and not finished": evidence(UNKNOWN, presses=1, journals=journal("INTENT")),
    "journal lost under a link that seemed alive": evidence(
        PENDING, UNKNOWN, journal_losses=[JournalLoss("desk", -0.1)]
    ),
    "journal lost while it was open": evidence(
        PENDING, UNKNOWN, presses=1, journal_losses=[JournalLoss("desk", 0.7)]
    ),
    "refused": refused({}),
}

BAD = {
    "pressed twice": (evidence(COMPLETED, presses=2), Broken.DOUBLE),
    "pressed twice, and never resolved": (evidence(PENDING, presses=2), Broken.UNRESOLVED),
    "not pressed": (evidence(COMPLETED, presses=0), Broken.COMPLETED_WITHOUT),
    "pressed in part": (evidence(COMPLETED, wanted=2), Broken.COMPLETED_WITHOUT),
    "never, and pressed": (evidence(NEVER), Broken.NEVER_WITH),
    "expired, and pressed": (evidence(EXPIRED), Broken.NEVER_WITH),
    "refused, and pressed": (refused({Place(1279, 20): 1}), Broken.STRAY),
    "refused without a reason": (evidence(REFUSED, presses=0), Broken.UNEXPECTED),
    "refused for its own key": (refused({}, REUSED), Broken.UNEXPECTED),
    "two answers": (evidence(COMPLETED, NEVER), Broken.DIFFERS),
    "another answer in the ledger": (evidence(COMPLETED, ledger={}), Broken.DIFFERS),
    "another answer seen": (looked(NEVER), Broken.DIFFERS),
    "unresolved": (evidence(PENDING, presses=0), Broken.UNRESOLVED),
    "no answer at all": (evidence(FinalAnswer(0, b""), presses=0), Broken.UNRESOLVED),
    "unknown, and ended": (
        evidence(UNKNOWN, journals=journal("DONE")),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "unknown, and never begun": (evidence(UNKNOWN, presses=0), Broken.UNKNOWN_WITHOUT_REASON),
    "unknown, and another journal lost": (
        evidence(PENDING, UNKNOWN, journal_losses=[JournalLoss("other", 0.7)]),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "unknown, and its journal lost before": (
        evidence(UNKNOWN, journal_losses=[JournalLoss("desk", -3.1)]),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "pressed elsewhere": (
        replace(evidence(COMPLETED), presses={"desk": {PLACE: 1, Place(1, 1): 1}}),
        Broken.STRAY,
    ),
    "another body pressed": (with_other_body(REUSED, presses=1), Broken.STRAY),
    "another body answered": (with_other_body(COMPLETED), Broken.UNEXPECTED),
    "a mistake": (evidence(FinalAnswer(500, b"{}"), COMPLETED), Broken.UNEXPECTED),
    "machine lost": (evidence(problem(404, "not-found"), presses=0), Broken.UNEXPECTED),
    "a client gave up": (evidence(COMPLETED, ends=["desk: 1"]), Broken.GAVE_UP),
}


@pytest.mark.parametrize("name", GOOD)
def test_promise_that_is_kept_is_seen_as_kept(name: str) -> None:
    verdict = judge(GOOD[name])
    assert verdict.is_good, verdict.violations


@pytest.mark.parametrize("name", BAD)
def test_broken_promise_is_seen(name: str) -> None:
    run, broken = BAD[name]
    verdict = judge(run)
    assert not verdict.is_good
    assert broken in verdict.counts()


def test_press_too_many_counts_whatever_is_answered() -> None:
    for answer in (COMPLETED, PENDING, UNKNOWN, NEVER, FAILED):
        assert Broken.DOUBLE in judge(evidence(answer, presses=2)).counts()


def test_table_has_every_count() -> None:
    table = judge(evidence(PENDING, COMPLETED, presses=2)).table()
    rows = {line[:-8].strip(): line[-8:].strip() for line in table.splitlines()}
    assert rows["faults in all"] == "1"
    assert rows["commands"] == "1"
    assert rows["requests sent again"] == "1"
    assert rows["answered with 200"] == "1"
    assert {broken.value: rows[broken.value] for broken in Broken} == {
        broken.value: "1" if broken is Broken.DOUBLE else "0" for broken in Broken
    }


def test_violation_is_told_with_everything_around_it() -> None:
    verdict = judge(evidence(PENDING, COMPLETED, presses=2, journals=journal("DONE")))
    told = verdict.told(verdict.violations[0])
    for part in ("double", "key", "outcome-pending", "ledger: ('DONE'", "journal: DONE", "kill"):
        assert part in told
