"""A supervised process comes back whenever it ends, and ends for good when it is closed."""

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest

from tests.faults.supervised_process import SupervisedProcess
from tests.processes import WAIT_SECONDS, until


@contextlib.contextmanager
def sleeping() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def supervised() -> Iterator[SupervisedProcess]:
    supervised = SupervisedProcess("sleeper", sleeping)
    supervised.start()
    assert supervised.wait_for_start(1, WAIT_SECONDS)
    yield supervised
    supervised.close()
    assert not supervised.runs


def test_killed_process_is_started_again(supervised: SupervisedProcess) -> None:
    assert supervised.kill()
    assert supervised.wait_for_end(1, WAIT_SECONDS)
    assert supervised.wait_for_start(2, WAIT_SECONDS)
    assert supervised.runs
    assert supervised.exit_codes == [-signal.SIGKILL]


def test_held_process_stays_away_until_it_is_released(supervised: SupervisedProcess) -> None:
    supervised.disable_restart()
    assert supervised.kill()
    assert supervised.wait_for_end(1, WAIT_SECONDS)
    assert not supervised.wait_for_start(2, 0.5)
    assert not supervised.kill()
    supervised.enable_restart()
    assert supervised.wait_for_start(2, WAIT_SECONDS)


def test_stopped_process_is_seen_standing_still(supervised: SupervisedProcess) -> None:
    assert not supervised.is_stopped
    assert supervised.signal(signal.SIGSTOP)
    until(lambda: supervised.is_stopped, "it stands still")
    assert supervised.signal(signal.SIGCONT)
    until(lambda: not supervised.is_stopped, "it goes on")
    assert supervised.starts == 1


class EndsUnnoticed(subprocess.Popen[bytes]):
    """Somebody waits for its end between the question whether it runs and the signal."""

    def __init__(self) -> None:
        super().__init__(["true"])
        super().wait()
        self.may_be_noticed = threading.Event()

    def poll(self) -> None:
        return None

    def wait(self, timeout: float | None = None) -> int:
        self.may_be_noticed.wait(timeout)
        return self.returncode


def test_one_that_ends_before_the_signal_is_told_as_one_that_does_not_run() -> None:
    process = EndsUnnoticed()

    @contextlib.contextmanager
    def ended() -> Iterator[EndsUnnoticed]:
        yield process

    supervised = SupervisedProcess("short", ended)
    supervised.start()
    assert supervised.wait_for_start(1, WAIT_SECONDS)
    assert not supervised.kill()
    supervised.disable_restart()
    process.may_be_noticed.set()
    assert supervised.wait_for_end(1, WAIT_SECONDS)
    supervised.close()


def test_start_that_fails_is_tried_again() -> None:
    @contextlib.contextmanager
    def failing_twice() -> Iterator[subprocess.Popen[bytes]]:
        if len(failing.failed_starts) < 2:
            raise AssertionError("not yet")
        with sleeping() as process:
            yield process

    failing = SupervisedProcess("sleeper", failing_twice)
    failing.start()
    assert failing.wait_for_start(1, WAIT_SECONDS)
    failing.close()
    assert failing.failed_starts == ["not yet"] * 2


def test_one_that_never_ran_can_be_closed() -> None:
    supervised = SupervisedProcess("sleeper", sleeping)
    supervised.disable_restart()
    supervised.start()
    supervised.close()
    assert supervised.starts == 0
