"""The machine client is ended or stopped at the failpoints that a test armed."""

import os
import signal
import threading

import pytest

from machine_client.system.failpoints import arm_failpoints
from schemas.programs import failpoints
from schemas.programs.failpoints import VARIABLE, Failpoint, FailpointError, reached


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The processes and the signals that they are sent."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(failpoints, "_armed", {})
    monkeypatch.setattr(os, "kill", lambda *given: sent.append(given))
    # The thread that comes there: it is to stop at once.
    own = {threading.get_ident(): os.getpid()}
    monkeypatch.setattr(
        signal, "pthread_kill", lambda thread, number: sent.append((own[thread], number))
    )
    return sent


@pytest.mark.parametrize(("action", "number"), [("kill", signal.SIGKILL), ("stop", signal.SIGSTOP)])
def test_armed_point_sends_the_process_its_signal(
    monkeypatch: pytest.MonkeyPatch, signals: list[tuple[int, int]], action: str, number: int
) -> None:
    monkeypatch.setenv(VARIABLE, f"after-intent={action}@2")
    arm_failpoints(testing=True)
    reached(Failpoint.AFTER_INTENT)
    assert signals == []
    reached(Failpoint.AFTER_INTENT)
    assert signals == [(os.getpid(), number)]


def test_point_of_the_server_is_none_of_the_machines(
    monkeypatch: pytest.MonkeyPatch, signals: list[tuple[int, int]]
) -> None:
    monkeypatch.setenv(VARIABLE, "after-sent=kill")
    with pytest.raises(FailpointError, match="no failpoint 'after-sent' here"):
        arm_failpoints(testing=True)
    assert signals == []
