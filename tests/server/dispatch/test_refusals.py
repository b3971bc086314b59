"""What each refusal of a link is to whoever sent the input."""

from uuid import uuid4

import pytest

from schemas.http.problems import ProblemError
from server.api.machines.answers import problem_of
from server.clock import server_time
from server.dispatch.command import Pending
from server.dispatch.refusals import refused, unavailable
from server.machines.link.errors import (
    ControlEndedError,
    LinkBusyError,
    LinkDownError,
    LinkUnsettledError,
    MachineControlledError,
    MachinePausedError,
    NoClipboardError,
    NoElementsError,
    NoInputError,
    NoScreenError,
    SubmissionRefusedError,
)

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (LinkBusyError(), 429, None),
        (LinkDownError(), 503, "offline"),
        (LinkUnsettledError(), 503, "settling"),
        (MachinePausedError(NOW, "Bob paused the machine"), 503, "paused"),
        (MachineControlledError("Ada", NOW), 503, "controlled"),
        (NoInputError("the display is gone", NOW), 503, "no_input"),
        (NoScreenError("its owner lets nobody", NOW), 503, "no_screen"),
        (NoClipboardError("its owner lets nobody"), 503, "no_clipboard"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_refusal_says_that_nothing_was_sent_and_when_to_come_again(
    error: SubmissionRefusedError, status: int, reason: str | None
) -> None:
    problem = problem_of(refused(error, NOW))
    assert isinstance(problem, ProblemError)
    assert problem.problem_type.status == status
    assert problem.members.get("reason") == reason
    assert problem.headers["Retry-After"]
    if reason is not None:
        assert problem.members["since"] == "2023-11-14T22:13:20.000Z"


@pytest.mark.parametrize(("seconds", "retry_after"), [(1, 1), (60, 5)])
def test_machine_that_has_just_gone_is_to_be_asked_again_soon(
    seconds: int, retry_after: int
) -> None:
    moved = unavailable("offline", "it moves", server_time() - seconds * 1000)
    assert moved.retry_seconds == retry_after


def test_every_refusal_is_among_them() -> None:
    named = {
        *(LinkBusyError, LinkDownError, LinkUnsettledError, MachinePausedError, NoInputError),
        *(MachineControlledError, ControlEndedError, NoClipboardError, NoElementsError),
        NoScreenError,
    }
    assert set(SubmissionRefusedError.__subclasses__()) == named


@pytest.mark.parametrize(
    ("error", "status"),
    [(ControlEndedError(), 409), (NoElementsError("there is no accessibility bus"), 501)],
    ids=lambda value: type(value).__name__,
)
def test_what_would_be_refused_again_is_not_to_be_tried_again(
    error: SubmissionRefusedError, status: int
) -> None:
    problem = problem_of(refused(error, NOW))
    assert isinstance(problem, ProblemError)
    assert problem.problem_type.status == status
    assert "Retry-After" not in problem.headers


def test_pending_input_is_not_said_to_have_been_sent() -> None:
    problem = problem_of(Pending(command_id=uuid4()))
    assert isinstance(problem, ProblemError)
    for words in (problem.detail, problem.problem_type.advice):
        assert "may have been sent" in words
