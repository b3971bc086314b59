"""Failpoints strike where a test armed them, at the pass that it named, and nowhere else."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.programs import failpoints
from schemas.programs.failpoints import (
    VARIABLE,
    Failpoint,
    FailpointError,
    Side,
    arm_from_environment,
    reached,
)
from tests.processes import WAIT_SECONDS, run, until

PROJECT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _nothing_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failpoints, "_armed", {})


def test_nothing_happens_where_nothing_is_armed() -> None:
    for point in Failpoint:
        reached(point)


def test_what_a_point_promises_is_made_true_only_where_something_is_armed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    reached(Failpoint.AFTER_PRESS, lambda: made.append("confirmed"))
    assert made == []
    monkeypatch.setenv(VARIABLE, "after-press=kill@2")
    arm_from_environment("machine", testing=True)
    reached(Failpoint.AFTER_PRESS, lambda: made.append("confirmed"))
    assert made == ["confirmed"]


def test_program_that_was_not_started_for_tests_takes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "after-sent=kill")
    with pytest.raises(FailpointError, match="unset it, or start with --testing"):
        arm_from_environment("server", testing=False)
    reached(Failpoint.AFTER_SENT)


@pytest.mark.parametrize("testing", [True, False])
def test_program_without_the_variable_starts_as_ever(
    monkeypatch: pytest.MonkeyPatch, testing: bool
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
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
        ("server", "after-sent=kill@-1", "must be like"),
        ("server", "after-sent=kill@²", "must be like"),
        ("server", "=kill", "no failpoint '' here"),
        ("server", "after-ack=kill,after-sent", "'after-sent' must be like"),
    ],
)
def test_what_cannot_be_armed_is_said(
    monkeypatch: pytest.MonkeyPatch, side: Side, text: str, complaint: str
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(FailpointError, match=complaint):
        arm_from_environment(side, testing=True)


def test_every_point_is_of_one_side() -> None:
    sides = {point: point.side for point in Failpoint}
    assert set(sides.values()) == {"server", "machine"}
    assert sides[Failpoint.AFTER_SENT] == "server"
    assert sides[Failpoint.BEFORE_INTENT] == "machine"


def passing(failpoints: str) -> "subprocess.Popen[str]":
    """A process that was armed with these, passes two points four times, and counts."""
    script = (
        "from schemas.programs.failpoints import *\n"
        "arm_from_environment('server', testing=True)\n"
        "for passes in range(1, 5):\n"
        "    reached(Failpoint.AFTER_BYTES)\n"
        "    reached(Failpoint.AFTER_SENT)\n"
        "    print(passes, flush=True)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={VARIABLE: failpoints},
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("failpoints", "passes"),
    [
        ("after-sent=kill@3, after-ack=kill", 2),
        ("after-sent=kill", 0),
        ("after-bytes=kill@9,after-sent=kill@2,", 1),
    ],
)
def test_armed_point_ends_the_process_at_the_pass_that_was_named(
    failpoints: str, passes: int
) -> None:
    process = passing(failpoints)
    said, _ = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == -signal.SIGKILL
    assert said.split() == [str(number + 1) for number in range(passes)]


def test_armed_point_that_others_pass_does_nothing() -> None:
    process = passing("after-ack=kill,after-sent=kill@5")
    assert process.communicate(timeout=WAIT_SECONDS)[0].split() == ["1", "2", "3", "4"]
    assert process.returncode == 0


def test_stopped_process_goes_on_where_it_was_and_is_struck_once() -> None:
    process = passing("after-sent=stop@2")
    try:
        until(lambda: state_of(process.pid) == "T", "it stops")
        process.send_signal(signal.SIGCONT)
        assert process.communicate(timeout=WAIT_SECONDS)[0].split() == ["1", "2", "3", "4"]
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def state_of(process_id: int) -> str:
    """A process's state, as the kernel abbreviates it."""
    return Path(f"/proc/{process_id}/stat").read_text().rpartition(") ")[2][0]


@pytest.mark.parametrize(
    ("arguments", "failpoints", "said"),
    [
        ((), "after-sent=kill", "FARHAND_FAILPOINTS is set, which would end this program in the"),
        (("--testing",), "after-snet=kill", "no failpoint 'after-snet' here; known: before-claim"),
        (("--testing",), "after-intent=kill", "no failpoint 'after-intent' here; known: before-c"),
        (("--testing",), "after-sent=pause", "'after-sent=pause' must be like after-sent=kill"),
        (("--testing",), "after-sent=kill@", "'after-sent=kill@' must be like after-sent=kill"),
    ],
)
def test_server_says_in_one_line_what_cannot_be_armed(
    tmp_path: Path, arguments: tuple[str, ...], failpoints: str, said: str
) -> None:
    ended = run(
        "farhand", "serve", "--data-dir", str(tmp_path / "data"), *arguments,
        FARHAND_FAILPOINTS=failpoints,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    usage, _, sentence = ended.stderr.strip().partition("Error: ")
    assert usage.startswith("Usage: farhand serve")
    assert said in sentence
    assert "\n" not in sentence
    # Nothing was begun: no database, no file of its own.
    assert not (tmp_path / "data").exists()
