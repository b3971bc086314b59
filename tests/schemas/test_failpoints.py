"""Failpoints strike where a test armed them, at the pass that it named, and nowhere else."""

import signal
import subprocess
import sys

import pytest

from schemas import failpoints
from schemas.failpoints import Failpoint, FailpointError, Side, arm_from_environment, reached


@pytest.fixture(autouse=True)
def _nothing_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failpoints, "_armed", {})


def test_nothing_happens_where_nothing_is_armed() -> None:
    for point in Failpoint:
        reached(point)


def test_program_that_was_not_started_for_tests_takes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(failpoints.VARIABLE, "after-sent=kill")
    with pytest.raises(FailpointError, match="unset it, or start with --testing"):
        arm_from_environment("server", testing=False)
    reached(Failpoint.AFTER_SENT)


@pytest.mark.parametrize("testing", [True, False])
def test_program_without_the_variable_starts_as_ever(
    monkeypatch: pytest.MonkeyPatch, testing: bool
) -> None:
    monkeypatch.delenv(failpoints.VARIABLE, raising=False)
    arm_from_environment("server", testing=testing)
    reached(Failpoint.AFTER_SENT)


@pytest.mark.parametrize(
    ("side", "text", "complaint"),
    [
        ("server", "nonsense=kill", "no failpoint 'nonsense' here; known: before-claim, after-cl"),
        ("server", "before-intent=kill", "no failpoint 'before-intent' here"),
        ("machine", "after-sent=kill", "no failpoint 'after-sent' here; known: before-intent"),
        ("server", "after-sent", "must be like after-sent=kill, after-sent=stop or"),
        ("server", "after-sent=explode", "'after-sent=explode' must be like after-sent=kill"),
        ("server", "after-sent=kill@0", "must be like"),
        ("server", "after-sent=kill@x", "must be like"),
    ],
)
def test_what_cannot_be_armed_is_said(
    monkeypatch: pytest.MonkeyPatch, side: Side, text: str, complaint: str
) -> None:
    monkeypatch.setenv(failpoints.VARIABLE, text)
    with pytest.raises(FailpointError, match=complaint):
        arm_from_environment(side, testing=True)


def test_every_point_is_of_one_side() -> None:
    sides = {point: point.side for point in Failpoint}
    assert set(sides.values()) == {"server", "machine"}
    assert sides[Failpoint.AFTER_SENT] == "server"
    assert sides[Failpoint.BEFORE_INTENT] == "machine"


def test_armed_point_ends_the_process_at_the_pass_that_was_named() -> None:
    script = (
        "from schemas.failpoints import *\n"
        "arm_from_environment('server', testing=True)\n"
        "for passes in range(1, 5):\n"
        "    reached(Failpoint.AFTER_BYTES)\n"
        "    reached(Failpoint.AFTER_SENT)\n"
        "    print(passes, flush=True)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={failpoints.VARIABLE: "after-sent=kill@3, after-ack=kill"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "1\n2\n"), ended.stderr
