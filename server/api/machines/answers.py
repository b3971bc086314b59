"""What machines answer, as HTTP has it: the only place where that is made.

The end of a command is answered from what the ledger keeps of it and nothing else, so that every
retry gets the same bytes as whoever asked first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue
from pydantic_core import to_json

from schemas.http import problems
from schemas.http.problems import (
    PROBLEM_TYPES,
    InvalidRequestError,
    ProblemError,
    ProblemType,
    ValidationErrorBody,
)
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    ActionResult,
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Refused,
    Results,
    Stopped,
    Unknown,
    results_of,
)
from server.clock import iso_time
from server.dispatch.command import CommandReply, Ended, Pending
from server.dispatch.questions.question import Refusal, RefusalKind
from server.errors import StoreUnavailable
from server.web.changes import key_reused

JSON = "application/json"

_ELEMENT_PROBLEMS: Final[Mapping[str, ProblemType]] = {
    "element_missing": problems.ELEMENT_MISSING,
    "element_ambiguous": problems.ELEMENT_AMBIGUOUS,
}
"""What an input is answered with that was refused for what the screen shows."""

_OF_ELEMENTS: Final = "element_"
"""How the codes begin of what is wrong with an element, whose messages call it by its name."""

_Unfinished = Refused | Failed | Stopped | Expired | NotCarriedOut | Unknown


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, byte for byte."""

    status: int
    content_type: str | None
    body: bytes


def answer_to(ended: Ended) -> Answer:
    """The answer to a command that has ended."""
    outcome = ended.outcome
    match outcome:
        case Completed():
            return Answer(204, None, b"") if ended.minimal else _completed(ended, outcome)
        case Refused() if not _is_about_screen(outcome):
            body = ValidationErrorBody(detail=_invalid(outcome).entries)
            return Answer(422, JSON, body.model_dump_json().encode())
        case _:
            problem = _unfinished(ended, outcome)
            body_of_it = to_json(problem.body(ended.request_id))
            return Answer(problem.problem_type.status, problems.MEDIA_TYPE, body_of_it)


def problem_of(reply: Refusal | Pending) -> Exception:
    """What a handler raises where nothing was done, or nothing is known yet.

    That is a ProblemError, an InvalidRequestError or StoreUnavailable.
    """
    if isinstance(reply, Pending):
        return ProblemError(
            problems.OUTCOME_PENDING,
            "the input may have been sent, and its outcome is not known yet",
            members={"command_id": str(reply.command_id)},
            headers={"Retry-After": "1"},
        )
    if reply.kind is RefusalKind.KEY_REUSED:
        return key_reused()
    if reply.kind is RefusalKind.NOT_ON_SCREEN:
        return InvalidRequestError.single(reply.loc, reply.detail, reply.code or "value_error")
    if reply.kind is RefusalKind.STORAGE_UNAVAILABLE:
        return StoreUnavailable(reply.detail)
    return ProblemError(
        PROBLEM_TYPES[reply.kind],
        reply.detail,
        members=_members_of(reply),
        headers=_headers_of(reply),
    )


def words_of(reply: CommandReply) -> tuple[str, str]:
    """The name and the detail of what a command was answered with, where it was not carried out."""
    error: Any = None
    if isinstance(reply, Refusal | Pending):
        error = problem_of(reply)
    elif isinstance(reply.outcome, Refused) and not _is_about_screen(reply.outcome):
        error = _invalid(reply.outcome)
    elif not isinstance(reply.outcome, Completed):
        error = _unfinished(reply, reply.outcome)
    match error:
        case ProblemError():
            return error.problem_type.name, error.detail
        case InvalidRequestError(entries=[entry, *_]):
            return entry.type, entry.msg
        case _:
            return problems.STORAGE_UNAVAILABLE.name, str(error)


def tells_of_screen(outcome: Outcome) -> bool:
    """Whether an outcome says what was on the screen, such as the names of elements."""
    actions = results_of(outcome) or ()
    if any(
        each.status == "not_seen" or each.at is not None or each.matched is not None
        for each in actions
    ):
        return True
    failed = (outcome,) if isinstance(outcome, Refused | Failed) else actions
    return any((each.code or "").startswith(_OF_ELEMENTS) for each in failed)


def _is_about_screen(outcome: Refused) -> bool:
    """Whether the request is right, and the screen shows something else."""
    return outcome.code in _ELEMENT_PROBLEMS


def _members_of(refusal: Refusal) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {
        "reason": refusal.reason,
        "since": None if refusal.since is None else iso_time(refusal.since),
        "by": refusal.by,
        "code": refusal.code,
    }
    return {name: value for name, value in members.items() if value is not None}


def _headers_of(refusal: Refusal) -> dict[str, str]:
    headers = {}
    if refusal.kind is RefusalKind.KEY_IN_PROGRESS:
        headers["Idempotency-Status"] = "in_progress"
    if refusal.retry_seconds is not None:
        headers["Retry-After"] = str(refusal.retry_seconds)
    return headers


def _completed(ended: Ended, outcome: Completed) -> Answer:
    # Plain values, which pydantic's encoder need not look into.
    result: dict[str, Any] = {
        "command_id": str(ended.command_id),
        "machine_id": ended.machine_id,
        "operation": ended.operation.value,
        "status": outcome.status,
        "accepted_at": iso_time(ended.accepted_at),
        "completed_at": iso_time(ended.ended_at),
        "duration_ms": outcome.duration_ms,
        "pointer": {"x": outcome.pointer.x, "y": outcome.pointer.y},
    }
    if outcome.effect != "happened":
        result["effect"] = outcome.effect
    if outcome.actions is not None:
        result |= {"actions": _action_results(outcome.actions), "screenshot": None}
    return Answer(200, JSON, to_json(result))


def _invalid(outcome: Refused) -> InvalidRequestError:
    return InvalidRequestError.single(
        outcome.loc, outcome.message, outcome.code, ctx=dict(outcome.ctx)
    )


def _unfinished(ended: Ended, outcome: _Unfinished) -> ProblemError:
    problem_type, detail, members = _unfinished_words(outcome)
    members = {"command_id": str(ended.command_id), **members}
    if ended.operation is Operation.ACTIONS and isinstance(outcome, Failed | Stopped | Unknown):
        members |= _prefix_of(outcome)
    return ProblemError(problem_type, detail, members=members)


def _prefix_of(outcome: Failed | Stopped | Unknown) -> dict[str, JsonValue]:
    """How far several actions came: null where the journal that knew it is lost."""
    results = outcome.actions
    if results is None and not isinstance(outcome, Unknown):
        results = ()  # It failed before the first was begun.
    return {
        "completed": None if results is None else _number_completed(results),
        "actions": None if results is None else _action_results(results),
        "screenshot": None,
    }


def _number_completed(results: Results) -> int:
    return sum(each.status == "completed" for each in results)


def _action_results(results: Results) -> list[JsonValue]:
    """How each of several actions ended."""
    return [_action_result(each) for each in results]


def _action_result(result: ActionResult) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = result.model_dump(mode="json")
    if result.at is not None:
        told["at"] = result.at._asdict()
    if result.operation == "screenshot":
        told["picture"] = None
    return told


def _unfinished_words(
    outcome: _Unfinished,
) -> tuple[ProblemType, str, dict[str, JsonValue]]:
    match outcome:
        case Refused(code=code, message=message, loc=loc):
            return _ELEMENT_PROBLEMS[code], message, {"loc": [*loc], "final": True}
        case Stopped():
            return (
                problems.ACTIONS_STOPPED,
                "the screen did not show what was waited for, or not the one element that was "
                "meant; the actions before it are done, and those after it never will be",
                {"final": True},
            )
        case Failed(code=code, message=message, injected_at_least=count):
            return (
                problems.INPUT_FAILED,
                f"the machine tried and failed: {message}",
                {"code": code, "message": message, "final": True, "injected_at_least": count},
            )
        case Expired():
            return (
                problems.INPUT_EXPIRED,
                "the input's time passed before the machine could begin; it was not carried out "
                "and never will be",
                {"final": True},
            )
        case NotCarriedOut():
            return (
                problems.NOT_CARRIED_OUT,
                "the input never reached the machine and now never will",
                {"final": True},
            )
        case Unknown(injected_at_least=count):
            return (
                problems.OUTCOME_UNKNOWN,
                "the input was begun and not finished, or the machine's journal is lost; "
                "nobody can know what happened",
                {"final": True, "injected_at_least": count},
            )
