"""The verdict sees every broken promise: doctored histories, each with one thing wrong."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from tests.faults.arrivals import POINTER, Arrival, Kind, Place, Step
from tests.faults.history import SOMEBODY_HOLDS, CommandHistory, Fault, FinalAnswer, Try
from tests.faults.inputs import Input
from tests.faults.judge import judge
from tests.faults.verdict import Broken, Evidence, JournalLoss

ORGANIZATION = UUID("00000000-0000-4000-8000-0000000000a1")
PLACE, OTHER_PLACE, END = Place(10, 20), Place(30, 40), Place(110, 20)
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


def failed(code: str, injected: int = 0) -> FinalAnswer:
    return problem(502, "input-failed", code=code, injected_at_least=injected)


def motion(place: Place) -> Step:
    return Step(Kind.MOTION, POINTER, place)


def press(what: str, place: Place | None = None) -> Step:
    return Step(Kind.PRESS, what, place)


def release(what: str, place: Place | None = None) -> Step:
    return Step(Kind.RELEASE, what, place)


def click(place: Place) -> tuple[Step, ...]:
    return motion(place), press("left", place), release("left", place)


CLICK = Input("mouse/click", {"x": 10, "y": 20}, click(PLACE))
OTHER_CLICK = Input("mouse/click", {"x": 30, "y": 40}, click(OTHER_PLACE))
SCROLL = Input(
    "mouse/scroll",
    {"amount": 2},
    (motion(PLACE), *(press("wheel up", PLACE), release("wheel up", PLACE)) * 2),
)
DRAG = Input(
    "mouse/drag",
    {"start_x": 10},
    (motion(PLACE), press("left", PLACE), motion(END), release("left", END)),
    is_drag=True,
)
MOVE = Input("mouse/move", {"x": 10, "y": 20}, (motion(PLACE),))
TEXT = Input(
    "keyboard/type",
    {"text": "Ab"},
    (
        *(press("shift"), press("a"), release("a"), release("shift")),
        *(press("b"), release("b")),
    ),
)
HOLD = Input("mouse/click", {"x": 10, "down": True}, (motion(PLACE), press("left", PLACE)))
LET_GO = Input("mouse/click", {"x": 10, "down": False}, (motion(PLACE),), lets_go=("left",))
HELD_KEYS = Input("keyboard/key", {"text": "f1 f2", "down": True}, (press("f1"), press("f2")))
OUTSIDE = Input("mouse/click", {"x": 5000}, must_be_refused=True)

PAUSE = Input("wait", {"seconds": 0.1})
LAST_CLICK = Input("mouse/click", {"x": 110, "y": 20}, click(END))
PARTS = CLICK, PAUSE, TEXT, LAST_CLICK
BATCH = Input("actions", {}, tuple(step for part in PARTS for step in part.steps), parts=PARTS)


def of_actions(answer: FinalAnswer, *statuses: str) -> FinalAnswer:
    """An answer that says this of the first actions of `BATCH`, and that no other was begun."""
    told = [*statuses, *["not_begun"] * (len(PARTS) - len(statuses))]
    done = next((at for at, status in enumerate(told) if status != "completed"), len(told))
    members = {"completed": done, "actions": [{"status": status} for status in told]}
    return FinalAnswer(answer.status, json.dumps({**json.loads(answer.body), **members}).encode())


EARLIER_HOLD = (motion(Place(5, 5)), press("left", Place(5, 5)))


def answered(at: float, answer: FinalAnswer) -> Try:
    return Try(at, at + 0.5, "port 1", answer.status, answer.body)


def arrivals(steps: Iterable[Step], *, by_person: bool = False) -> list[Arrival]:
    """The events of some steps, which without a place of their own happen anywhere."""
    return [
        Arrival(step.kind, step.what, step.place or Place(1, 1), 0.2, by_person) for step in steps
    ]


def persons(*steps: Step) -> list[Arrival]:
    return arrivals(steps, by_person=True)


def evidence(
    *answers: FinalAnswer,
    body: Input = CLICK,
    seen: Iterable[Any] | None = None,
    **changes: Any,
) -> Evidence:
    """A run of one command, answered so, of which these steps or arrivals were seen: or all."""
    tries = [answered(float(number), answer) for number, answer in enumerate(answers)]
    other = OTHER_CLICK if body is CLICK else replace(body, steps=(), lets_go=())
    command = CommandHistory(0, "key", "desk", body, other, tries)
    final = command.first_final()
    happened = list(body.steps if seen is None else seen)
    return replace(
        Evidence(
            organization_id=ORGANIZATION,
            commands=[command],
            faults=[Fault("kill", "server", 0.1, 0.2)],
            arrivals={
                "desk": [
                    arrival
                    for each in happened
                    for arrival in ([each] if isinstance(each, Arrival) else arrivals([each]))
                ]
            },
            journals={},
            ledger={command.id(ORGANIZATION): ("DONE", final.answer if final else None)},
            held={"desk": frozenset()},
        ),
        **changes,
    )


def journal(state: str) -> dict[UUID, str]:
    return {evidence(COMPLETED).commands[0].id(ORGANIZATION): state}


def with_hold(run: Evidence) -> Evidence:
    """The same after another command, that left a button pressed."""
    hold = Input("mouse/click", {"x": 5, "down": True}, EARLIER_HOLD)
    before = CommandHistory(1, "before", "desk", hold, replace(hold, steps=()))
    before.tries.append(answered(0.0, COMPLETED))
    return replace(
        run,
        commands=[before, *run.commands],
        arrivals={"desk": [*arrivals(EARLIER_HOLD), *run.arrivals["desk"]]},
        ledger={**run.ledger, before.id(ORGANIZATION): ("DONE", COMPLETED)},
    )


def after_one_whose_other_body_begins_likewise(run: Evidence) -> Evidence:
    """The same after a move that was cut short, under whose key a text was refused."""
    text = Input("keyboard/type", {"text": "Ax"}, (*TEXT.steps[:4], press("x"), release("x")))
    before = CommandHistory(1, "before", "desk", MOVE, text)
    before.tries.append(answered(0.0, UNKNOWN))
    identifier = before.id(ORGANIZATION)
    return replace(
        run,
        commands=[before, *run.commands],
        arrivals={"desk": [*arrivals(MOVE.steps), *run.arrivals["desk"]]},
        ledger={**run.ledger, identifier: ("DONE", UNKNOWN)},
        journals={**run.journals, identifier: "INTENT"},
    )


def twice_by_two_commands() -> Evidence:
    """Two commands that hold the same keys, the second soon after the first."""
    run = evidence(COMPLETED, body=HELD_KEYS)
    again = replace(run.commands[0], number=1, key="again", tries=[answered(9.0, COMPLETED)])
    late = [each._replace(at=9.2) for each in arrivals(HELD_KEYS.steps)]
    let_go = [each._replace(at=5.0) for each in arrivals(map(release, ("f1", "f2")))]
    return replace(
        run,
        commands=[*run.commands, again],
        arrivals={"desk": [*run.arrivals["desk"], *let_go, *late]},
        ledger={**run.ledger, again.id(ORGANIZATION): ("DONE", COMPLETED)},
    )


def twice_and_asked_again() -> Evidence:
    """The same, where the first is asked again while the second happens."""
    run = twice_by_two_commands()
    first, second = run.commands
    asked_again = replace(first, tries=[*first.tries, answered(9.1, COMPLETED)])
    return replace(run, commands=[asked_again, second])


def with_other_body(answer: FinalAnswer, *seen: Step) -> Evidence:
    run = evidence(COMPLETED, seen=[*CLICK.steps, *seen])
    run.commands[0].other_tries.append(answered(5.0, answer))
    return run


def looked(answer: FinalAnswer) -> Evidence:
    """A run of one completed command, at which somebody looked."""
    run = evidence(COMPLETED)
    seen = {"final": True, "answer": {"status": answer.status, "body": json.loads(answer.body)}}
    run.commands[0].looks.append(answered(3.0, FinalAnswer(200, json.dumps(seen).encode())))
    run.commands[0].looks.append(
        answered(0.0, FinalAnswer(200, b'{"final": false, "answer": null}'))
    )
    return run


def batch(answer: FinalAnswer, *seen: Step, **changes: Any) -> Evidence:
    """A run of several actions, which the journal says were begun and not ended."""
    return evidence(answer, body=BATCH, seen=seen, **{"journals": journal("INTENT"), **changes})


AFTER_ONE = of_actions(failed("interrupted"), "completed", "interrupted")
AFTER_TWO = of_actions(UNKNOWN, "completed", "completed", "unknown")
UP, DOWN = release("left", PLACE), press("left", PLACE)
SOMEBODY = [Fault(SOMEBODY_HOLDS, "desk", 0.1, 0.3)]
WAY = [motion(Place(40, 20)), motion(Place(70, 20))]
ALL = {
    "actions": BATCH,
    "click": CLICK,
    "scroll": SCROLL,
    "drag": DRAG,
    "move": MOVE,
    "text": TEXT,
    "hold": HOLD,
}

GOOD = {
    **{name: evidence(COMPLETED, body=body) for name, body in ALL.items()},
    "looked at": looked(COMPLETED),
    "completed after others": evidence(PENDING, COMPLETED, COMPLETED),
    "drag with its way": evidence(
        COMPLETED, body=DRAG, seen=[*DRAG.steps[:2], *WAY, *DRAG.steps[2:]]
    ),
    "held before, released first": with_hold(evidence(COMPLETED, seen=[UP, *CLICK.steps])),
    "held before, released at the place": with_hold(
        evidence(COMPLETED, seen=[CLICK.steps[0], UP, *CLICK.steps[1:]])
    ),
    "released as it was held": with_hold(
        evidence(COMPLETED, body=LET_GO, seen=[motion(PLACE), UP])
    ),
    "nothing to release": evidence(COMPLETED, body=LET_GO),
    "a person came between": evidence(
        COMPLETED, seen=[motion(PLACE), *persons(DOWN), *arrivals([UP])]
    ),
    "a person came a moment before": evidence(
        COMPLETED, seen=[*persons(DOWN), *arrivals([motion(PLACE), UP])]
    ),
    "refused as a person held it": evidence(
        failed("already_down"), seen=persons(DOWN, UP), faults=SOMEBODY
    ),
    "never": evidence(NEVER, NEVER, seen=()),
    "expired": evidence(EXPIRED, seen=()),
    "failed in part": evidence(failed("interrupted", 3), body=SCROLL, seen=SCROLL.steps[:3]),
    "drag cut short": evidence(
        failed("interrupted", 4),
        body=DRAG,
        seen=[*DRAG.steps[:2], WAY[0], release("left", WAY[0].place)],
    ),
    "begun and not finished": evidence(UNKNOWN, seen=CLICK.steps[:2], journals=journal("INTENT")),
    "cut short after a key that a refused body begins with": (
        after_one_whose_other_body_begins_likewise(
            evidence(
                UNKNOWN,
                body=TEXT,
                seen=[press("shift"), release("shift")],
                journals=journal("INTENT"),
            )
        )
    ),
    "the same keys held by two commands": twice_by_two_commands(),
    "the same keys held by two commands, one asked again": twice_and_asked_again(),
    "unknown, claims what arrived": evidence(
        problem(502, "outcome-unknown", injected_at_least=2),
        seen=CLICK.steps[:2],
        journals=journal("INTENT"),
    ),
    "journal lost under a link that seemed alive": evidence(
        PENDING, UNKNOWN, journal_losses=[JournalLoss("desk", -0.1)]
    ),
    "journal lost while it was open": evidence(
        PENDING, UNKNOWN, journal_losses=[JournalLoss("desk", 0.7)]
    ),
    "refused": evidence(REFUSED, body=OUTSIDE),
    "actions ended between two": batch(AFTER_ONE, *CLICK.steps),
    "actions of a machine that slept": batch(
        of_actions(failed("expired"), "completed", "completed"), *CLICK.steps
    ),
    "actions of which one is unknown, and did not happen": batch(AFTER_TWO, *CLICK.steps),
    "actions of which one is unknown, and happened in part": batch(
        AFTER_TWO, *CLICK.steps, *TEXT.steps[:1], release("shift")
    ),
    "actions of which one is unknown, and happened": batch(AFTER_TWO, *CLICK.steps, *TEXT.steps),
    "actions of which nobody knows": batch(
        problem(502, "outcome-unknown", completed=None, actions=None),
        *CLICK.steps,
        journals={},
        journal_losses=[JournalLoss("desk", 0.1)],
    ),
    "actions that never were": batch(NEVER, journals={}),
    "actions that a person was in the way of": batch(
        of_actions(failed("already_down"), "completed", "completed", "completed", "failed"),
        *CLICK.steps,
        *TEXT.steps,
        faults=SOMEBODY,
    ),
}

BAD = {
    **{
        f"{name} twice": (evidence(COMPLETED, body=body, seen=body.steps * 2), Broken.DOUBLE)
        for name, body in ALL.items()
        if body is not HOLD
    },
    **{
        f"{name} without its event {number}": (
            evidence(COMPLETED, body=body, seen=body.steps[:number] + body.steps[number + 1 :]),
            Broken.COMPLETED_WITHOUT,
        )
        for name, body in ALL.items()
        for number in range(len(body.steps))
    },
    "several actions twice": (batch(COMPLETED, *BATCH.steps * 2), Broken.DOUBLE),
    "one of several actions twice": (
        batch(COMPLETED, *BATCH.steps, *LAST_CLICK.steps),
        Broken.DOUBLE,
    ),
    "one of several actions twice, at once": (
        batch(COMPLETED, *CLICK.steps[:1], *CLICK.steps[1:] * 2, *BATCH.steps[3:]),
        Broken.DOUBLE,
    ),
    "an action told as completed that was not": (
        batch(AFTER_TWO, *CLICK.steps[:2]),
        Broken.COMPLETED_WITHOUT,
    ),
    "an action told as completed that began": (
        batch(
            of_actions(failed("interrupted"), "completed", "completed", "completed"),
            *CLICK.steps,
            *TEXT.steps[:5],
        ),
        Broken.COMPLETED_WITHOUT,
    ),
    "an action told as not begun that began": (
        batch(AFTER_ONE, *CLICK.steps, *TEXT.steps[:1]),
        Broken.NEVER_WITH,
    ),
    "an action that happened after one that is unknown": (
        batch(AFTER_TWO, *BATCH.steps),
        Broken.NEVER_WITH,
    ),
    "actions told as never carried out": (batch(NEVER, *CLICK.steps), Broken.NEVER_WITH),
    "actions completed after one that was not": (
        batch(of_actions(UNKNOWN, "unknown", "completed"), *CLICK.steps),
        Broken.UNEXPECTED,
    ),
    "one input that came too late after it began": (
        evidence(failed("expired"), seen=()),
        Broken.FAILED_WITHOUT_REASON,
    ),
    "actions that a person cannot have been in the way of": (
        batch(of_actions(failed("already_down"), "failed")),
        Broken.FAILED_WITHOUT_REASON,
    ),
    "keys in another order": (
        evidence(
            COMPLETED,
            body=TEXT,
            seen=[*TEXT.steps[:2], TEXT.steps[3], TEXT.steps[2], *TEXT.steps[4:]],
        ),
        Broken.COMPLETED_WITHOUT,
    ),
    "dropped press": (
        with_hold(evidence(COMPLETED, seen=[motion(PLACE), UP])),
        Broken.COMPLETED_WITHOUT,
    ),
    "not released": (
        with_hold(evidence(COMPLETED, body=LET_GO)),
        Broken.COMPLETED_WITHOUT,
    ),
    "twice, and never resolved": (evidence(PENDING, seen=CLICK.steps * 2), Broken.DOUBLE),
    "twice, the second time in part": (
        evidence(COMPLETED, seen=[*CLICK.steps, motion(PLACE)]),
        Broken.DOUBLE,
    ),
    "never, and moved": (evidence(NEVER, seen=[motion(PLACE)]), Broken.NEVER_WITH),
    "expired, and pressed": (evidence(EXPIRED), Broken.NEVER_WITH),
    "never, and typed": (evidence(NEVER, body=TEXT, seen=TEXT.steps[:1]), Broken.NEVER_WITH),
    "refused, and pressed elsewhere": (
        evidence(REFUSED, body=OUTSIDE, seen=click(Place(1279, 20))),
        Broken.STRAY,
    ),
    "already down, and moved": (
        evidence(failed("already_down"), seen=[motion(PLACE)], faults=SOMEBODY),
        Broken.NEVER_WITH,
    ),
    "already down, and nobody held it": (
        evidence(failed("already_down"), seen=()),
        Broken.FAILED_WITHOUT_REASON,
    ),
    "already down at another desk": (
        evidence(failed("already_down"), seen=(), faults=[replace(SOMEBODY[0], target="other")]),
        Broken.FAILED_WITHOUT_REASON,
    ),
    "failed for no known reason": (
        evidence(failed("internal_error"), seen=()),
        Broken.FAILED_WITHOUT_REASON,
    ),
    "failed, and claims too much": (
        evidence(failed("interrupted", 4), body=SCROLL, seen=SCROLL.steps[:3]),
        Broken.OVERSTATED,
    ),
    "already down, and claims something": (
        evidence(failed("already_down", 1), seen=(), faults=SOMEBODY),
        Broken.OVERSTATED,
    ),
    "unknown, and claims too much": (
        evidence(
            problem(502, "outcome-unknown", injected_at_least=3),
            seen=CLICK.steps[:2],
            journals=journal("INTENT"),
        ),
        Broken.OVERSTATED,
    ),
    "left pressed": (evidence(COMPLETED, held={"desk": {"left"}}), Broken.LEFT_PRESSED),
    "refused without a reason": (evidence(REFUSED, seen=()), Broken.UNEXPECTED),
    "refused for its own key": (evidence(REUSED, body=OUTSIDE), Broken.UNEXPECTED),
    "completed where it must be refused": (evidence(COMPLETED, body=OUTSIDE), Broken.UNEXPECTED),
    "two answers": (evidence(COMPLETED, NEVER), Broken.DIFFERS),
    "another answer in the ledger": (evidence(COMPLETED, ledger={}), Broken.DIFFERS),
    "another answer seen": (looked(NEVER), Broken.DIFFERS),
    "unresolved": (evidence(PENDING, seen=()), Broken.UNRESOLVED),
    "no answer at all": (evidence(FinalAnswer(0, b""), seen=()), Broken.UNRESOLVED),
    "unknown, and ended": (
        evidence(UNKNOWN, journals=journal("DONE")),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "unknown, and never begun": (evidence(UNKNOWN, seen=()), Broken.UNKNOWN_WITHOUT_REASON),
    "unknown, and another journal lost": (
        evidence(PENDING, UNKNOWN, journal_losses=[JournalLoss("other", 0.7)]),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "unknown, and its journal lost before": (
        evidence(UNKNOWN, journal_losses=[JournalLoss("desk", -3.1)]),
        Broken.UNKNOWN_WITHOUT_REASON,
    ),
    "pressed elsewhere": (
        evidence(COMPLETED, seen=[*CLICK.steps, *click(Place(1, 1))]),
        Broken.STRAY,
    ),
    "keys of nobody": (evidence(COMPLETED, seen=[*CLICK.steps, press("x")]), Broken.STRAY),
    "off the drag's way": (
        evidence(
            COMPLETED, body=DRAG, seen=[*DRAG.steps[:2], motion(Place(60, 90)), *DRAG.steps[2:]]
        ),
        Broken.STRAY,
    ),
    "another body pressed": (with_other_body(REUSED, *click(OTHER_PLACE)), Broken.STRAY),
    "another body answered": (with_other_body(COMPLETED), Broken.UNEXPECTED),
    "a mistake": (evidence(FinalAnswer(500, b"{}"), COMPLETED), Broken.UNEXPECTED),
    "machine lost": (evidence(problem(404, "not-found"), seen=()), Broken.UNEXPECTED),
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


def test_what_happens_twice_counts_whatever_is_answered() -> None:
    for answer in (COMPLETED, PENDING, UNKNOWN, NEVER, failed("interrupted")):
        assert Broken.DOUBLE in judge(evidence(answer, seen=CLICK.steps * 2)).counts()


def test_table_has_every_count() -> None:
    table = judge(evidence(PENDING, COMPLETED, seen=CLICK.steps * 2)).table()
    rows = {line[:-8].strip(): line[-8:].strip() for line in table.splitlines()}
    assert rows["faults in all"] == "1"
    assert rows["commands"] == rows["mouse/click"] == "1"
    assert rows["events that arrived"] == "6"
    assert rows["requests sent again"] == "1"
    assert rows["answered with 200"] == "1"
    assert {broken.value: rows[broken.value] for broken in Broken} == {
        broken.value: "1" if broken is Broken.DOUBLE else "0" for broken in Broken
    }


def test_violation_is_told_with_everything_around_it() -> None:
    run = evidence(PENDING, COMPLETED, seen=CLICK.steps * 2, journals=journal("DONE"))
    verdict = judge(run)
    described = verdict.described(verdict.violations[0])
    for part in ("double", "key", "outcome-pending", "ledger: ('DONE'", "journal: DONE", "kill"):
        assert part in described
    assert "press left at (10, 20)" in described


def test_what_a_client_does_when_it_starts_is_of_no_command() -> None:
    """As far as its desktop says so, and for its own machine alone."""
    seen = evidence(COMPLETED, seen=[*CLICK.steps, motion(END), release("right")])
    for of_start, strays in (
        (lambda arrival: arrival.place == END, 1),
        (lambda arrival: arrival.kind is Kind.RELEASE, 1),
        (lambda _: True, 0),
        (lambda _: False, 2),
    ):
        verdict = judge(replace(seen, is_of_start={"desk": of_start}))
        assert verdict.counts()[Broken.STRAY] == strays
        assert len(verdict.violations) == strays
    assert judge(replace(seen, is_of_start={"other": lambda _: True})).counts()[Broken.STRAY] == 2
