"""Every outcome's answer, as bytes: what is answered first is what every retry gets."""

from dataclasses import dataclass
from uuid import UUID

from pydantic_core import to_json

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError, ValidationErrorBody
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Refused,
    Unknown,
)
from server.clock import iso_time, server_time
from server.store.commands import Answer

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What an answer needs to know of the command, whoever asks for it."""

    command_id: UUID
    machine_id: str
    operation: Operation
    accepted_at: int
    request_id: str
    minimal: bool


def final_answer(context: AnswerContext, outcome: Outcome) -> Answer:
    """The answer to a command that ended with this outcome."""
    match outcome:
        case Completed():
            return _completed(context, outcome)
        case Refused():
            error = InvalidRequestError.single(
                outcome.loc, outcome.message, outcome.code, ctx=dict(outcome.ctx)
            )
            body = ValidationErrorBody(detail=error.entries)
            return Answer(422, JSON, body.model_dump_json().encode())
        case _:
            return _problem(context, outcome)


def _completed(context: AnswerContext, outcome: Completed) -> Answer:
    if context.minimal:
        return Answer(204, None, b"")
    # Plain values, which pydantic's encoder need not look into.
    result = {
        "command_id": str(context.command_id),
        "machine_id": context.machine_id,
        "operation": context.operation.value,
        "status": outcome.status,
        "accepted_at": iso_time(context.accepted_at),
        "completed_at": iso_time(server_time()),
        "duration_ms": outcome.duration_ms,
        "pointer": {"x": outcome.pointer.x, "y": outcome.pointer.y},
    }
    if outcome.effect != "happened":
        result["effect"] = outcome.effect
    return Answer(200, JSON, to_json(result))


def _problem(context: AnswerContext, outcome: Failed | Expired | NotCarriedOut | Unknown) -> Answer:
    command = {"command_id": str(context.command_id)}
    match outcome:
        case Failed(code=code, message=message, injected_at_least=count):
            problem = ProblemError(
                problems.INPUT_FAILED,
                f"the machine tried and failed: {message}",
                members={
                    **command,
                    "code": code,
                    "message": message,
                    "final": True,
                    "injected_at_least": count,
                },
            )
        case Expired():
            problem = ProblemError(
                problems.INPUT_EXPIRED,
                "the input's time passed before the machine could begin; it was not carried out "
                "and never will be",
                members={**command, "final": True},
            )
        case NotCarriedOut():
            problem = ProblemError(
                problems.NOT_CARRIED_OUT,
                "the input never reached the machine and now never will",
                members={**command, "final": True},
            )
        case Unknown(injected_at_least=count):
            problem = ProblemError(
                problems.OUTCOME_UNKNOWN,
                "the input was begun and not finished, or the machine's journal is lost; "
                "nobody can know what happened",
                members={**command, "final": True, "injected_at_least": count},
            )
    return Answer(
        problem.problem_type.status,
        problems.MEDIA_TYPE,
        to_json(problem.body(context.request_id)),
    )
