"""Outcomes on the wire and on the disk."""

import pytest
from pydantic import TypeAdapter

from schemas.inputs.outcomes import (
    ActionResult,
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Stopped,
    Unknown,
    results_of,
)
from schemas.values.pictures import Region

OUTCOMES: TypeAdapter[Outcome] = TypeAdapter(Outcome)
HERE = Point(x=1, y=2)
RESULTS = (
    ActionResult(operation="wait_for", status="completed", matched=1, at=Region(1, 2, 3, 4)),
    ActionResult(operation="mouse.click", status="failed", code="x_error", message="went away"),
    ActionResult(operation="wait", status="not_begun"),
)
OF_ONE: list[Outcome] = [
    Completed(duration_ms=1.5, pointer=HERE),
    Failed(code="x_error", message="went away", injected_at_least=3),
    Unknown(injected_at_least=1),
    Refused(code="missing", message="Field required", loc=("body", "x")),
    Expired(),
    NotCarriedOut(),
]
OF_SEVERAL: list[Outcome] = [
    Completed(duration_ms=1.5, pointer=HERE, actions=RESULTS[:1]),
    Failed(code="x_error", message="went away", injected_at_least=3, actions=RESULTS),
    Stopped(actions=RESULTS),
    Unknown(actions=RESULTS),
]


@pytest.mark.parametrize("outcome", [*OF_ONE, *OF_SEVERAL], ids=repr)
def test_outcome_survives_the_wire(outcome: Outcome) -> None:
    assert OUTCOMES.validate_json(outcome.model_dump_json()) == outcome


def test_input_alone_says_nothing_of_actions() -> None:
    assert all("actions" not in outcome.model_dump() for outcome in OF_ONE)
    assert [results_of(outcome) for outcome in (None, *OF_ONE)] == [None] * 7


def test_each_of_several_actions_has_its_result_and_nothing_that_it_lacks() -> None:
    assert [results_of(outcome) for outcome in OF_SEVERAL] == [RESULTS[:1], *[RESULTS] * 3]
    assert RESULTS[2].model_dump() == {"operation": "wait", "status": "not_begun"}
