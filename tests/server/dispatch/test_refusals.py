"""What each refusal of a link is to whoever sent the input."""

import pytest

from server.dispatch.refusals import refused
from server.machines.link.errors import (
    LinkBusyError,
    LinkDownError,
    LinkUnsettledError,
    MachinePausedError,
    NoInputError,
    SubmissionRefusedError,
)

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (LinkBusyError(), 429, None),
        (LinkDownError(), 503, "offline"),
        (LinkUnsettledError(), 503, "settling"),
        (MachinePausedError(NOW), 503, "paused"),
        (NoInputError("the display is gone", NOW), 503, "no_input"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_refusal_says_that_nothing_was_sent_and_when_to_come_again(
    error: SubmissionRefusedError, status: int, reason: str | None
) -> None:
    problem = refused(error, NOW)
    assert problem.problem_type.status == status
    assert problem.members.get("reason") == reason
    assert problem.headers["Retry-After"]
    if reason is not None:
        assert problem.members["since"] == "2023-11-14T22:13:20.000Z"


def test_every_refusal_is_among_them() -> None:
    named = {LinkBusyError, LinkDownError, LinkUnsettledError, MachinePausedError, NoInputError}
    assert set(SubmissionRefusedError.__subclasses__()) == named
