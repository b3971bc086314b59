"""The server ends, well or badly, and comes back on the same data directory."""

import os
import signal
from pathlib import Path
from typing import Any

from tests.desktop import Witness
from tests.end_to_end.system import System, Workstation, presses, travels
from tests.processes import Answer, ServerProcess, until

DRAG = {"start_x": 100, "start_y": 600, "to_x": 1100, "to_y": 700}


def came_back(system: System) -> None:
    """Wait until the machine's client is connected anew."""
    until(lambda: system.client.output.count("connected to") > 1, "the client comes back")
    system.workstation.is_in_state("online")


def trajectory(workstation: Workstation) -> Any:
    """Store one and return its id and its workflow's."""
    workflow = workstation.api.call("POST", "/v1/workflows", {"name": "invoices"})
    assert workflow.status == 201, workflow.body
    stored = workstation.api.call(
        "POST",
        "/v1/trajectories",
        {
            "workflow_id": workflow.json["id"],
            "dimensions": {"width": 1280, "height": 800},
            "trajectory_data": [{"action": "click", "x": 1}, {"note": "größer €"}],
        },
    )
    assert stored.status == 201, stored.body
    return stored.json


def read_back(workstation: Workstation, stored: Any) -> list[bytes]:
    """Everything that the three reads say of it."""
    answers = [
        workstation.api.call("GET", path)
        for path in (
            f"/v1/trajectories/{stored['id']}?include=workflow",
            f"/v1/trajectories?workflow_id={stored['workflow_id']}",
            f"/v1/workflows/{stored['workflow_id']}/latest-trajectory",
        )
    ]
    assert {answer.status for answer in answers} == {200}
    return [answer.body for answer in answers]


def test_killed_server_comes_back_with_all_that_was_acknowledged(
    system: System, witness: Witness
) -> None:
    workstation = system.workstation

    def answers() -> list[Answer]:
        return [
            workstation.send("mouse/click", "kept", x=900, y=700),
            workstation.send("mouse/click", "refused", x=5000, y=700),
        ]

    stored = trajectory(workstation)
    before, read = answers(), read_back(workstation, stored)
    assert [answer.status for answer in before] == [200, 422]
    system.program.kill()
    with system.server.run():
        came_back(system)
        witness.take()
        after = answers()
        assert [answer.body for answer in after] == [answer.body for answer in before]
        assert {answer.headers.get("Idempotency-Replayed") for answer in after} == {"true"}
        assert read_back(workstation, stored) == read
        assert witness.take() == []
        assert workstation.send("mouse/click", "new", x=900, y=700).status == 200
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def test_drag_whose_server_was_killed_is_finished_once_and_its_end_is_told(
    system: System, witness: Witness
) -> None:
    workstation = system.workstation
    asked = workstation.begin("mouse/drag", "carried", **DRAG, duration=2)
    travels(witness)
    system.program.kill()
    assert isinstance(asked.exception(), OSError)
    with system.server.run():
        came_back(system)

        def told() -> bool:
            retried = workstation.send("mouse/drag", "carried", **DRAG, duration=2)
            assert retried.status in (200, 504), retried.body
            return bool(retried.status == 200)

        until(told, "the drag's end is told")
        again = workstation.send("mouse/drag", "carried", **DRAG, duration=2)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json["pointer"] == {"x": 1100, "y": 700}
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]


def test_server_that_is_stopped_answers_the_running_drag_first(
    system: System, witness: Witness
) -> None:
    workstation = system.workstation
    asked = workstation.begin("mouse/drag", "last", **DRAG, duration=2)
    travels(witness)
    system.program.process.send_signal(signal.SIGTERM)
    answer = asked.result()
    assert answer.status == 200, answer.body
    assert system.program.ends() == 0
    assert "Traceback" not in system.program.output
    with system.server.run() as program:
        came_back(system)
        assert workstation.send("mouse/drag", "last", **DRAG, duration=2).body == answer.body
        assert presses(witness.take()) == ["ButtonPress 1", "ButtonRelease 1"]
        assert program.terminate() == 0
        assert system.client.terminate() == 0


def test_server_whose_mongod_ended_says_so_and_ends(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "server")
    with server.run() as program:
        mongod = child_of(program.process.pid, "mongod")
        os.kill(mongod, signal.SIGKILL)
        assert program.ends() == 1
        assert "Error: The embedded mongod ended by itself" in program.output
        assert "Traceback" not in program.output


def child_of(parent: int, name: str) -> int:
    """The process id of a program that another one's main thread started."""
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text().strip() == name:
            return int(child)
    raise LookupError(f"process {parent} has no child {name}")


def test_server_without_workers_goes_on_at_a_hangup(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with server.run() as program:
        program.process.send_signal(signal.SIGHUP)
        program.says("SIGHUP is for workers, and there are none")
        assert program.terminate() == 0


def looks(workstation: Workstation) -> list[Any]:
    """The entries of the audit about looks at the screen."""
    found: list[Any] = workstation.api.call("GET", "/v1/audit?action=screen").json["items"]
    return found


def look(workstation: Workstation) -> None:
    """Look at the machine's screen once."""
    path = f"/v1/computer/{workstation.machine}/display/screenshot"
    assert workstation.api.call("GET", path).status == 200


def test_who_looked_is_in_the_audit_of_a_server_that_was_killed(system: System) -> None:
    workstation = system.workstation
    look(workstation)
    until(lambda: len(looks(workstation)) == 1, "the look is in the audit")
    system.program.kill()
    with system.server.run():
        came_back(system)
        (killed,) = looks(workstation)
        assert killed["note"].startswith("1 picture so far, in ")
        look(workstation)
        until(lambda: len(looks(workstation)) == 2, "the next look is in the audit")


def test_stretch_of_looks_ends_with_a_server_that_is_told_to_end(system: System) -> None:
    workstation = system.workstation
    look(workstation)
    assert system.program.terminate() == 0
    with system.server.run():
        came_back(system)
        (ended,) = looks(workstation)
        assert ended["note"].startswith("1 picture, in ")
