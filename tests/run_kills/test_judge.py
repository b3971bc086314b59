"""What is broken in a run is found by the form's record, whatever the run says itself."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.run_kills.desk import Entered
from tests.run_kills.judge import Broken, judged
from tests.run_kills.orders import Act
from tests.run_kills.person import Followed, Halt

ACTS = (Act(1), Act(2), Act(2, "ab"))
ALL = (Entered(1, 1, 10), Entered(1, 2, 11), Entered(1, 2, 12, "a"), Entered(1, 2, 12.1, "ab"))
SKIPPED = ("done", "done", "skipped")
DONE = ("done",) * 3


def halt(step: int, at: float, **more: Any) -> Halt:
    known = {"is_done": False, "is_unknown": False, "said": {}, **more}
    return Halt(step, "missing", at, **known, until=at + 5)


@pytest.mark.parametrize(
    ("entered", "told", "halts", "broken"),
    [
        (ALL, DONE, [], []),
        (ALL[:3], SKIPPED, [], []),
        ([*ALL, Entered(1, 1, 14)], DONE, [], [Broken.TWICE, Broken.DISORDER]),
        ([*ALL, Entered(1, 2, 13, "aba")], DONE, [], [Broken.TWICE, Broken.LEFT_OUT]),
        (ALL[1:], DONE, [], [Broken.LEFT_OUT]),
        (ALL[:3], DONE, [], [Broken.LEFT_OUT]),
        (ALL, DONE[:2], [], [Broken.HISTORY]),
        (ALL, DONE, [halt(2, 10.5)], [Broken.AFTER_HALT, Broken.AFTER_HALT]),
        (ALL[:2], ("done", "done", "skipped"), [halt(2, 10.5, is_unknown=True)], []),
        (ALL[:2], ("done", "done", "skipped"), [halt(2, 10.5, is_done=True)], []),
        (ALL[:3], DONE, [halt(3, 13, is_done=True, said={"skip": True})], []),
        (ALL[:3], DONE, [halt(3, 13, is_done=True)], [Broken.LEFT_OUT]),
    ],
)
def test_what_is_broken_is_told(
    entered: Sequence[Entered], told: Sequence[str], halts: list[Halt], broken: list[Broken]
) -> None:
    assert [each.broken for each in judged(_run(entered, told, halts), ACTS)] == broken


def test_run_without_an_end_is_lost_and_one_that_was_refused_is_told() -> None:
    run = _run(ALL, DONE, [])
    run.view["ended_at"] = None
    assert [each.broken for each in judged(run, ACTS)] == [Broken.LOST]
    run = _run(ALL, DONE, [])
    run.view["status"] = "error"
    run.refused = ["wrong-state"]
    assert [each.broken for each in judged(run, ACTS)] == [Broken.REFUSED, Broken.ENDED]


def _run(entered: Sequence[Entered], told: Sequence[str], halts: list[Halt]) -> Followed:
    view = {
        "status": "success",
        "error": None,
        "halted": None,
        "ended_at": "2026-11-28T10:00:00Z",
        "steps": [{"number": number, "status": each} for number, each in enumerate(told, 1)],
    }
    return Followed("desk-1", 1, "an id", view, halts=halts, entered=entered)
