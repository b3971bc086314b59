import json
from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    Completed,
    Effect,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Unknown,
)
from schemas.resources.machines import InputResult
from server.dispatch.ledger.answers import AnswerContext, final_answer

COMMAND = UUID("00000000-0000-4000-8000-00000000000e")


def subject(*, minimal: bool = False) -> AnswerContext:
    return AnswerContext(
        command_id=COMMAND,
        machine_id="desk-1",
        operation=Operation.MOUSE_MOVE,
        accepted_at=1_700_000_000_123,
        request_id="r-1",
        minimal=minimal,
    )


def answered(outcome: Outcome) -> tuple[int, Any]:
    answer = final_answer(subject(), outcome)
    return answer.status, json.loads(answer.body)


def test_completed_is_200_with_the_result() -> None:
    answer = final_answer(subject(), Completed(duration_ms=1.25, pointer=Point(x=-3, y=4)))
    assert (answer.status, answer.content_type) == (200, "application/json")
    result = json.loads(answer.body)
    assert result.pop("completed_at").endswith("Z")
    assert result == {
        "command_id": str(COMMAND),
        "machine_id": "desk-1",
        "operation": "mouse.move",
        "status": "completed",
        "accepted_at": "2023-11-14T22:13:20.123Z",
        "duration_ms": 1.25,
        "pointer": {"x": -3, "y": 4},
    }


@pytest.mark.parametrize("effect", ["accepted", "delivered"])
def test_less_than_that_it_happened_is_said(effect: Effect) -> None:
    outcome = Completed(duration_ms=1, pointer=Point(x=0, y=0), effect=effect)
    status, result = answered(outcome)
    assert (status, result["status"], result["effect"]) == (200, "completed", effect)
    assert InputResult.model_validate(result).effect == effect


def test_outcome_of_an_older_client_happened_and_is_said_to_no_one_in_other_words() -> None:
    outcome = Completed.model_validate({"duration_ms": 1, "pointer": {"x": 0, "y": 0}})
    assert outcome.effect == "happened"
    assert "effect" not in outcome.model_dump()


def test_completed_is_204_without_a_body_where_that_is_wanted() -> None:
    answer = final_answer(subject(minimal=True), Completed(duration_ms=1, pointer=Point(x=0, y=0)))
    assert (answer.status, answer.content_type, answer.body) == (204, None, b"")


def test_refused_is_a_validation_error_with_the_machines_facts() -> None:
    status, body = answered(
        Refused(
            code="outside_displays",
            message="the place is outside of all displays",
            loc=("body", "x"),
            ctx={"displays": [{"x": 0, "width": 1280}]},
        )
    )
    assert status == 422
    assert body == {
        "detail": [
            {
                "loc": ["body", "x"],
                "msg": "the place is outside of all displays",
                "type": "outside_displays",
                "input": None,
                "ctx": {"displays": [{"x": 0, "width": 1280}]},
            }
        ]
    }


@pytest.mark.parametrize(
    ("outcome", "status", "name", "members"),
    [
        (
            Failed(code="x_error", message="the display went away", injected_at_least=3),
            502,
            "input-failed",
            {
                "code": "x_error",
                "message": "the display went away",
                "final": True,
                "injected_at_least": 3,
            },
        ),
        (Expired(), 504, "input-expired", {"final": True}),
        (NotCarriedOut(), 503, "not-carried-out", {"final": True}),
        (
            Unknown(injected_at_least=2),
            502,
            "outcome-unknown",
            {"final": True, "injected_at_least": 2},
        ),
    ],
)
@pytest.mark.parametrize("minimal", [True, False])
def test_other_outcomes_are_problems(
    outcome: Outcome, status: int, name: str, members: dict[str, Any], minimal: bool
) -> None:
    answer = final_answer(subject(minimal=minimal), outcome)
    assert (answer.status, answer.content_type) == (status, "application/problem+json")
    problem = json.loads(answer.body)
    assert problem.pop("title")
    assert problem.pop("detail")
    assert problem == {
        "type": f"/problems/{name}",
        "status": status,
        "instance": "r-1",
        "command_id": str(COMMAND),
        **members,
    }
