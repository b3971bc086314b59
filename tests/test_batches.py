"""What is said of several actions is held against what happened: each wrong word is found."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.batches import Act, Broken, What, broken, five, whole
from tests.desktop import DeviceEvent
from tests.processes import Answer

ACTS = five(3)
UNKNOWN, FAILED = "/problems/outcome-unknown", "/problems/input-failed"


def events(*acts: Act) -> list[DeviceEvent]:
    """Those of some actions, as a witness sees them."""
    return [_event(kind, what) for act in acts for kind, what in act.events]


def _event(kind: str, what: What) -> DeviceEvent:
    button, x, y = what if isinstance(what, tuple) else (what, 0, 0)
    device = "Button" if isinstance(what, tuple) else "Key"
    return DeviceEvent(f"{device}{kind.capitalize()}", button, 0, x, y)


def answer(kind: str, *statuses: str) -> Answer:
    """That of five actions, of which those that are not named were not begun."""
    told = [*statuses, *["not_begun"] * (len(ACTS) - len(statuses))]
    body: dict[str, Any] = {"type": kind, "actions": [{"status": status} for status in told]}
    if kind:
        body["completed"] = [*told, ""].index(next((s for s in told if s != "completed"), ""))
    return Answer(502 if kind else 200, {}, json.dumps(body).encode())


ENDED = answer("", *["completed"] * 5)
AFTER_TWO = answer(UNKNOWN, "completed", "completed", "unknown")
INTERRUPTED = answer(FAILED, "completed", "interrupted")
NEVER = Answer(503, {}, b'{"type": "/problems/not-carried-out"}')
LOST = Answer(502, {}, b'{"type": "/problems/outcome-unknown", "actions": null}')
PRESSED = events(*ACTS[:3])[:-1]


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        (ENDED, events(*ACTS)),
        (AFTER_TWO, events(*ACTS[:2])),
        (AFTER_TWO, events(*ACTS[:3])),
        (INTERRUPTED, events(*ACTS[:1])),
        (NEVER, []),
        (ENDED, [DeviceEvent("MotionNotify", 0, 0, 5, 5), *events(*ACTS)]),
    ],
)
def test_what_is_true_breaks_nothing(told: Answer, seen: Sequence[DeviceEvent]) -> None:
    assert broken(ACTS, told, seen) == []


@pytest.mark.parametrize(
    ("told", "seen", "wrong"),
    [
        (ENDED, events(*ACTS, ACTS[2]), Broken.TWICE),
        (AFTER_TWO, events(*ACTS[:3], ACTS[2]), Broken.TWICE),
        (ENDED, events(*ACTS[:4]), Broken.COMPLETED_WITHOUT),
        (ENDED, events(*ACTS)[1:], Broken.COMPLETED_WITHOUT),
        (AFTER_TWO, events(ACTS[0]), Broken.COMPLETED_WITHOUT),
        (AFTER_TWO, events(*ACTS[:4]), Broken.NOT_BEGUN_WITH),
        (NEVER, events(ACTS[0]), Broken.NOT_BEGUN_WITH),
        (AFTER_TWO, PRESSED, Broken.LEFT_PRESSED),
        (ENDED, events(ACTS[1], ACTS[0], *ACTS[2:]), Broken.OTHERWISE),
        (LOST, [], Broken.OTHERWISE),
        (answer(UNKNOWN, "completed", "failed"), events(ACTS[0]), Broken.OTHERWISE),
        (answer(FAILED, "completed", "unknown", "completed"), events(ACTS[0]), Broken.OTHERWISE),
        (answer("", "completed"), events(ACTS[0]), Broken.OTHERWISE),
    ],
)
def test_what_is_not_true_is_found(
    told: Answer, seen: Sequence[DeviceEvent], wrong: Broken
) -> None:
    assert wrong in [each.broken for each in broken(ACTS, told, seen)]


def test_lost_journal_may_say_nothing() -> None:
    assert broken(ACTS, LOST, events(*ACTS[:2]), journal_was_lost=True) == []


def test_actions_that_happened_whole_are_counted() -> None:
    assert [whole(ACTS, events(*ACTS[:number])) for number in range(6)] == [0, 1, 2, 3, 4, 5]
    assert whole(ACTS, PRESSED) == 2
