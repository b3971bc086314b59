"""Failpoints act where a test armed them, at the pass that it named, and nowhere else."""

import pytest

from schemas.programs import failpoints
from schemas.programs.failpoints import (
    Action,
    Failpoint,
    FailpointError,
    Perform,
    Side,
    arm,
    reached,
)


@pytest.fixture(autouse=True)
def _nothing_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failpoints, "_armed", {})


@pytest.fixture
def done() -> list[Action]:
    """What was done to the process."""
    return []


def _noted(done: list[Action]) -> Perform:
    return lambda _, action: done.append(action)


def test_nothing_happens_where_nothing_is_armed() -> None:
    for point in Failpoint:
        reached(point)


def test_what_a_point_promises_is_made_true_only_where_something_is_armed(
    done: list[Action],
) -> None:
    made: list[str] = []
    reached(Failpoint.AFTER_PRESS, lambda: made.append("confirmed"))
    assert made == []
    arm("after-press=kill@2", "machine", _noted(done), testing=True)
    reached(Failpoint.AFTER_PRESS, lambda: made.append("confirmed"))
    assert made == ["confirmed"]
    assert done == []


def test_program_that_was_not_started_for_tests_takes_none(done: list[Action]) -> None:
    with pytest.raises(FailpointError, match="unset it, or start with --testing"):
        arm("after-sent=kill", "server", _noted(done), testing=False)
    reached(Failpoint.AFTER_SENT)
    assert done == []


@pytest.mark.parametrize("testing", [True, False])
def test_program_without_the_variable_starts_as_ever(done: list[Action], testing: bool) -> None:
    arm("", "server", _noted(done), testing=testing)
    reached(Failpoint.AFTER_SENT)
    assert done == []


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("after-sent=kill@3, after-ack=kill", 3),
        ("after-sent=stop", 1),
        ("after-bytes=kill@9,after-sent=kill@2,", 2),
    ],
)
def test_armed_point_acts_once_at_the_pass_that_was_named(
    done: list[Action], text: str, passes: int
) -> None:
    arm(text, "server", _noted(done), testing=True)
    for number in range(1, 6):
        reached(Failpoint.AFTER_BYTES)
        reached(Failpoint.AFTER_SENT)
        assert bool(done) == (number >= passes)
    assert done == ["stop" if "stop" in text else "kill"]


@pytest.mark.parametrize(
    ("side", "text", "complaint"),
    [
        ("server", "nonsense=kill", "no failpoint 'nonsense' here; known: before-attempt, after-"),
        ("server", "before-intent=kill", "no failpoint 'before-intent' here"),
        ("machine", "after-sent=kill", "no failpoint 'after-sent' here; known: before-intent"),
        ("server", "after-sent", "must be like after-sent=kill, after-sent=stop or"),
        ("server", "after-sent=explode", "'after-sent=explode' must be like after-sent=kill"),
        ("server", "after-sent=kill@0", "must be like"),
        ("server", "after-sent=kill@x", "must be like"),
        ("server", "after-sent=kill@-1", "must be like"),
        ("server", "after-sent=kill@²", "must be like"),
        ("server", "=kill", "no failpoint '' here"),
        ("server", "after-ack=kill,after-sent", "'after-sent' must be like"),
    ],
)
def test_what_cannot_be_armed_is_said(
    done: list[Action], side: Side, text: str, complaint: str
) -> None:
    with pytest.raises(FailpointError, match=complaint):
        arm(text, side, _noted(done), testing=True)


def test_every_point_is_of_one_side() -> None:
    sides = {point: point.side for point in Failpoint}
    assert set(sides.values()) == {"server", "machine"}
    assert sides[Failpoint.AFTER_SENT] == "server"
    assert sides[Failpoint.BEFORE_INTENT] == "machine"
