"""A kept process comes back whenever it ends, and ends for good when it is closed."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.faults.kept import KeptProcess
from tests.processes import until

WAIT_SECONDS = 20.0


@contextlib.contextmanager
def sleeping() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def kept() -> Iterator[KeptProcess]:
    kept = KeptProcess("sleeper", sleeping)
    kept.start()
    assert kept.wait_for_start(1, WAIT_SECONDS)
    yield kept
    kept.close()
    assert not kept.runs


def test_killed_process_is_started_again(kept: KeptProcess) -> None:
    assert kept.kill()
    assert kept.wait_for_end(1, WAIT_SECONDS)
    assert kept.wait_for_start(2, WAIT_SECONDS)
    assert kept.runs
    assert kept.exit_codes == [-signal.SIGKILL]


def test_held_process_stays_away_until_it_is_released(kept: KeptProcess) -> None:
    kept.hold()
    assert kept.kill()
    assert kept.wait_for_end(1, WAIT_SECONDS)
    assert not kept.wait_for_start(2, 0.5)
    assert not kept.kill()
    kept.release()
    assert kept.wait_for_start(2, WAIT_SECONDS)


def test_stopped_process_is_seen_standing_still(kept: KeptProcess) -> None:
    assert not kept.is_stopped
    assert kept.signal(signal.SIGSTOP)
    until(lambda: kept.is_stopped, "it stands still")
    assert kept.signal(signal.SIGCONT)
    until(lambda: not kept.is_stopped, "it goes on")
    assert kept.starts == 1


def test_start_that_fails_is_tried_again() -> None:
    @contextlib.contextmanager
    def failing_twice() -> Iterator[subprocess.Popen[bytes]]:
        if len(failing.failed_starts) < 2:
            raise AssertionError("not yet")
        with sleeping() as process:
            yield process

    failing = KeptProcess("sleeper", failing_twice)
    failing.start()
    assert failing.wait_for_start(1, WAIT_SECONDS)
    failing.close()
    assert failing.failed_starts == ["not yet"] * 2


def test_one_that_never_ran_can_be_closed() -> None:
    kept = KeptProcess("sleeper", sleeping)
    kept.hold()
    kept.start()
    kept.close()
    assert kept.starts == 0
