"""The server is ended or stopped at the failpoints that a test armed, and goes on where it was."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.programs.failpoints import VARIABLE
from tests.processes import WAIT_SECONDS, run, state_of, until

PROJECT = Path(__file__).parents[3]


def passing(failpoints: str) -> "subprocess.Popen[str]":
    """A process that was armed with these, passes two points four times, and counts."""
    script = (
        "from schemas.programs.failpoints import Failpoint, reached\n"
        "from server.process.failpoints import arm_failpoints\n"
        "arm_failpoints(testing=True)\n"
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


@pytest.mark.parametrize(
    ("arguments", "failpoints", "said"),
    [
        ((), "after-sent=kill", "FARHAND_FAILPOINTS is set, which would end this program in the"),
        (
            ("--testing",),
            "after-snet=kill",
            "no failpoint 'after-snet' here; known: before-attempt",
        ),
        (("--testing",), "after-intent=kill", "no failpoint 'after-intent' here; known: before-a"),
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
