"""The agent of docs/guide/agents.md, as it stands there, on a real server and a real desktop."""

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import System, presses, sees
from tests.processes import Program, running

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guide"
TYPED = [
    *("ButtonPress 1", "ButtonRelease 1"),
    *("KeyPress 43", "KeyRelease 43", "KeyPress 31", "KeyRelease 31"),  # h, i
    *("KeyPress 36", "KeyRelease 36"),  # Return
]


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The program beside the page, where its runs are kept apart."""
    return Path(shutil.copy(GUIDE / "agent.py", tmp_path))


def begun(system: System, agent: Path, run: str) -> AbstractContextManager[Program]:
    variables = {
        "FARHAND_URL": system.server.url,
        "FARHAND_TOKEN": system.server.administrators_token(),
    }
    command = ("python", str(agent), system.workstation.machine, "hi", str(agent.parent / run))
    return running(agent.parent / f"{run}.log", variables, *command)


def test_page_shows_the_function_that_is_to_be_replaced() -> None:
    shown = (GUIDE / "agents.md").read_text().split("```python\n")[1].split("```")[0]
    assert shown.startswith("def decide(")
    assert shown in (GUIDE / "agent.py").read_text()


def test_agent_looks_decides_and_acts(system: System, agent: Path, witness: Witness) -> None:
    with begun(system, agent, "run-1") as program:
        assert program.ends() == 0, program.output
    assert "done in 3 steps" in program.output
    assert presses(witness.take()) == TYPED


def test_agent_that_is_killed_and_started_again_does_nothing_twice(
    system: System, agent: Path, witness: Witness, tmp_path: Path
) -> None:
    with begun(system, agent, "run-2") as program:
        sees(witness, "ButtonRelease 1")
        program.kill()
    with (tmp_path / "run-2.session").open("a") as session:
        session.write('{"decided": {"opera')
    with begun(system, agent, "run-2") as program:
        assert program.ends() == 0, program.output
    with begun(system, agent, "run-2") as program:
        assert program.ends() == 1
    assert "came to its end before" in program.output
    assert presses(witness.take()) == TYPED


def test_agent_waits_until_its_machine_may_be_worked_again(
    system: System, agent: Path, witness: Witness
) -> None:
    api, machine = system.workstation.api, system.workstation.machine
    assert api.call("PATCH", f"/v1/machines/{machine}", {"paused": True}).status == 200
    with begun(system, agent, "run-3") as program:
        assert api.call("PATCH", f"/v1/machines/{machine}", {"paused": False}).status == 200
        assert program.ends() == 0, program.output
    assert presses(witness.take()) == TYPED
