"""A machine client that stands still for a while and goes on: nothing late may begin."""

import time
from itertools import count
from pathlib import Path

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import System
from tests.processes import Answer, ServerProcess, go_on, stop, until

TIMEOUT = 2.0
"""The server's for an input, in seconds; a command must begin a little earlier."""


@pytest.mark.parametrize("heartbeat", ["1", "20"], ids=["link lost", "link kept"])
def test_command_that_reached_a_stalled_client_too_late_is_never_carried_out(
    tmp_path: Path, display: str, witness: Witness, heartbeat: str
) -> None:
    server = ServerProcess(
        tmp_path, heartbeat=heartbeat, input_timeout=str(TIMEOUT), token_check="0.5"
    )
    with System.running(server, display) as system:
        workstation, client = system.workstation, system.client.process
        until(lambda: workstation.send("mouse/move", x=1, y=1).status == 200, "a move is done")
        witness.take()
        began = 0.0

        def is_sent() -> bool:
            """Whether it was sent to a client that stands still, before its link was over."""
            nonlocal began
            workstation.is_in_state("online")
            stop(client.pid)
            began = time.monotonic()
            sent = workstation.send("mouse/click", "late", x=900, y=700)
            if sent.status == 503:
                go_on(client.pid)
            else:
                assert sent.status == 504, sent.body
            return sent.status == 504

        until(is_sent, "the command is sent")
        until(lambda: time.monotonic() > began + TIMEOUT, "the command's time passes")
        if heartbeat == "1":
            workstation.is_in_state("offline")
        go_on(client.pid)
        answers: list[Answer] = []

        def final() -> bool:
            answers.append(workstation.send("mouse/click", "late", x=900, y=700))
            return answers[-1].json.get("final") is True

        until(final, "the outcome is final")
        kind = str(answers[-1].json["type"]).rpartition("/")[2]
        assert kind in ("input-expired", "not-carried-out")
        assert workstation.send("mouse/click", "late", x=900, y=700).body == answers[-1].body
        assert witness.take() == []
        workstation.is_in_state("online")
        tried = count()

        def in_time() -> bool:
            key = f"in-time-{next(tried)}"
            return workstation.send("mouse/click", key, x=900, y=700).status == 200

        until(in_time, "a click is done in time")


def test_command_without_a_key_that_stalled_is_not_carried_out_late(
    tmp_path: Path, display: str, witness: Witness
) -> None:
    server = ServerProcess(tmp_path, heartbeat="20", input_timeout=str(TIMEOUT))
    with System.running(server, display) as system:
        workstation, client = system.workstation, system.client.process
        stop(client.pid)
        assert workstation.send("mouse/click", x=900, y=700).status == 504
        go_on(client.pid)
        witness.take()
        until(lambda: workstation.send("mouse/move", x=5, y=5).status == 200, "a move is done")
        assert {event.kind for event in witness.take()} == {"MotionNotify"}
