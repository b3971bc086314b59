"""The official client of the specified API, unchanged: an older version and the newest."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.commandline import environment
from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import ServerProcess

PROJECT = Path(__file__).parents[2]
CLIENTS = Path(sys.prefix) / "clients"
VERSIONS = [line.split("==")[1] for line in (PROJECT / ".ci" / "clients").read_text().split()]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_call_is_understood(
    shared_server: ServerProcess, workstation: Workstation, witness: Witness, version: str
) -> None:
    with workstation.joined():
        answers = called(shared_server, workstation, version)
    assert len(answers) == 14
    inputs = ("mouse_move", "mouse_click", "mouse_drag", "mouse_scroll")
    for name, (status, _) in answers.items():
        assert status == (201 if name == "create_trajectory" else 200), name
    assert all(name in answers for name in inputs)
    assert presses(witness.take())[:4] == ["ButtonPress 1", "ButtonRelease 1"] * 2
    assert answers["get_mouse_position"][1] == {"x": 90, "y": 95}
    (listed,) = answers["list_trajectories"][1]["items"]
    for each in (
        listed,
        answers["get_trajectory"][1],
        answers["get_latest_trajectory_for_workflow"][1],
    ):
        assert (each["is_approved"], each["trajectory_data"]) == (False, [{"action": "click"}])
        assert (each["has_been_approved"], each["is_main"]) == (True, False)


def called(
    server: ServerProcess, workstation: Workstation, version: str
) -> dict[str, tuple[int, Any]]:
    """What each call was answered, by its name."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "tests.end_to_end.official_client", server.url),
            *(server.administrators_token(), workstation.machine, str(uuid4())),
        ],
        env=environment(PYTHONPATH=f"{CLIENTS / version}:{PROJECT}"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    answers: dict[str, tuple[int, Any]] = json.loads(ended.stdout)
    return answers
