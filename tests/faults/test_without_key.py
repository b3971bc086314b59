"""What the verdict says of commands without a key, which are sent once."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from tests.faults.arrivals import POINTER, Arrival, Kind, Place, Step
from tests.faults.history import CommandHistory, Try
from tests.faults.inputs import Input
from tests.faults.judge import judge
from tests.faults.verdict import Broken, Evidence

PLACE = Place(10, 20)
MOVE = Input("mouse/move", {"x": 10, "y": 20}, (Step(Kind.MOTION, POINTER, PLACE),))
OTHER = Input("mouse/move", {"x": 1, "y": 2}, (Step(Kind.MOTION, POINTER, Place(1, 2)),))


def answered(status: int, name: str = "", **members: Any) -> Try:
    body = {"type": f"/problems/{name}", **members} if name else members
    return Try(0.0, 0.5, "port 1", status, json.dumps(body).encode())


def shown(status: int, **body: Any) -> Try:
    return answered(200, answer={"status": status, "body": body})


PENDING = answered(504, "outcome-pending", command_id="17")
STILL_OPEN = answered(200, state="sent", answer=None)
UNKNOWN = shown(502, type="/problems/outcome-unknown", final=True)


@pytest.mark.parametrize(
    ("answer", "looks", "times", "broken"),
    [
        (answered(200), [], 1, set()),
        (answered(200), [], 0, {Broken.COMPLETED_WITHOUT}),
        (answered(200), [], 2, {Broken.DOUBLE}),
        (answered(503, "machine-unavailable"), [], 0, set()),
        (answered(503, "machine-unavailable"), [], 1, {Broken.NEVER_WITH}),
        (answered(429, "machine-busy"), [], 1, {Broken.NEVER_WITH}),
        (answered(503, "storage-unavailable"), [], 1, set()),
        (answered(0), [], 1, set()),
        (answered(0), [], 2, {Broken.DOUBLE}),
        (answered(500, "internal-error"), [], 0, {Broken.UNEXPECTED}),
        (PENDING, [STILL_OPEN, shown(200)], 1, set()),
        (PENDING, [STILL_OPEN, shown(200)], 0, {Broken.COMPLETED_WITHOUT}),
        (PENDING, [STILL_OPEN, UNKNOWN], 1, set()),
        (PENDING, [STILL_OPEN], 1, {Broken.UNRESOLVED}),
        (PENDING, [answered(404, "not-found")], 1, set()),
    ],
)
def test_what_is_promised_without_a_key(
    answer: Try, looks: Sequence[Try], times: int, broken: set[Broken]
) -> None:
    command = CommandHistory(0, "name", "desk", MOVE, OTHER, [answer], looks=list(looks))
    command.is_keyed = False
    seen = [Arrival(Kind.MOTION, POINTER, PLACE, 0.2)] * times
    verdict = judge(
        Evidence(
            organization_id=UUID(int=1),
            commands=[command],
            faults=[],
            arrivals={"desk": seen},
            journals={},
            ledger={},
        )
    )
    assert set(verdict.counts()) == broken
    assert "mouse/move without a key" in verdict.table()
