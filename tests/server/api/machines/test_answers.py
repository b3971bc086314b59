import json
from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    ActionResult,
    Completed,
    Effect,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Stopped,
    Unknown,
)
from schemas.resources.machines import InputResult
from schemas.values.pictures import Region
from server.api.machines.answers import answer_to, tells_of_screen, words_of
from server.dispatch.command import Ended

COMMAND = UUID("00000000-0000-4000-8000-00000000000e")


def ended(outcome: Outcome, *, minimal: bool = False) -> Ended:
    return Ended(
        command_id=COMMAND,
        machine_id="desk-1",
        operation=Operation.MOUSE_MOVE,
        accepted_at=1_700_000_000_123,
        ended_at=1_700_000_000_456,
        request_id="r-1",
        minimal=minimal,
        outcome=outcome,
    )


def answered(outcome: Outcome) -> tuple[int, Any]:
    answer = answer_to(ended(outcome))
    return answer.status, json.loads(answer.body)


def test_completed_is_200_with_the_result() -> None:
    answer = answer_to(ended(Completed(duration_ms=1.25, pointer=Point(x=-3, y=4))))
    assert (answer.status, answer.content_type) == (200, "application/json")
    result = json.loads(answer.body)
    assert result == {
        "command_id": str(COMMAND),
        "machine_id": "desk-1",
        "operation": "mouse.move",
        "status": "completed",
        "accepted_at": "2023-11-14T22:13:20.123Z",
        "completed_at": "2023-11-14T22:13:20.456Z",
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
    answer = answer_to(ended(Completed(duration_ms=1, pointer=Point(x=0, y=0)), minimal=True))
    assert (answer.status, answer.content_type, answer.body) == (204, None, b"")


@pytest.mark.parametrize("kind", ["missing", "ambiguous"])
def test_element_that_is_not_one_is_a_problem_that_every_retry_gets(kind: str) -> None:
    refused = Refused(code=f"element_{kind}", message="it is covered", loc=("body", "element"))
    answer = answer_to(ended(refused))
    assert (answer.status, answer.content_type) == (409, "application/problem+json")
    assert answer.body == answer_to(ended(refused).replayed()).body
    body = json.loads(answer.body)
    del body["title"]
    assert body == {
        "type": f"/problems/element-{kind}",
        "status": 409,
        "detail": "it is covered",
        "instance": "r-1",
        "command_id": str(COMMAND),
        "loc": ["body", "element"],
        "final": True,
    }
    assert words_of(ended(refused)) == (f"element-{kind}", "it is covered")


@pytest.mark.parametrize(
    ("action", "tells"),
    [
        ({"status": "completed"}, False),
        ({"status": "failed", "code": "no_key", "message": "there is no key"}, False),
        ({"status": "not_seen", "code": "element_missing", "message": "no Save"}, True),
        ({"status": "not_seen"}, True),
        ({"status": "failed", "code": "element_cannot", "message": "The Save"}, True),
        ({"status": "completed", "at": Region(x=1, y=2, width=3, height=4)}, True),
        ({"status": "completed", "matched": 0}, True),
    ],
)
def test_one_of_several_actions_may_tell_of_the_screen(
    action: dict[str, Any], *, tells: bool
) -> None:
    results = (
        ActionResult(operation="mouse.move", status="completed"),
        ActionResult(operation="mouse.click", **action),
    )
    assert tells_of_screen(Stopped(actions=results)) is tells


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
    answer = answer_to(ended(outcome, minimal=minimal))
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


KEPT: dict[str, tuple[Outcome, bytes]] = {
    "completed": (
        Completed(duration_ms=1.25, pointer=Point(x=-3, y=4)),
        b'{"command_id":"00000000-0000-4000-8000-00000000000e","machine_id":"desk-1",'
        b'"operation":"mouse.move","status":"completed","accepted_at":"2023-11-14T22:13:20.123Z",'
        b'"completed_at":"2023-11-14T22:13:20.456Z","duration_ms":1.25,"pointer":{"x":-3,"y":4}}',
    ),
    "refused": (
        Refused(code="no_key", message="there is no key é", ctx={"n": 1}),
        '{"detail":[{"loc":["body"],"msg":"there is no key é","type":"no_key","input":null,'
        '"ctx":{"n":1}}]}'.encode(),
    ),
    "failed": (
        Failed(code="x", message="gone", injected_at_least=3),
        b'{"type":"/problems/input-failed","title":"The machine tried and failed","status":502,'
        b'"detail":"the machine tried and failed: gone","instance":"r-1",'
        b'"command_id":"00000000-0000-4000-8000-00000000000e","code":"x","message":"gone",'
        b'"final":true,"injected_at_least":3}',
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_of_a_command_is_answered_in_the_same_bytes_for_ever(name: str) -> None:
    """A retry after an upgrade gets what the first request got before it.

    Whoever changes an answer lets it depend on something new in what is kept.
    """
    outcome, body = KEPT[name]
    assert answer_to(ended(outcome)).body == body
