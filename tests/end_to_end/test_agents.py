"""The agent of docs/guide/agents.md, as it stands there, on a real server and a real desktop."""

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import Program, go_on, running, state_of, until

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


def begun(desk: Workstation, agent: Path, run: str) -> AbstractContextManager[Program]:
    variables = {"FARHAND_URL": desk.url, "FARHAND_TOKEN": desk.api.token}
    command = ("python", str(agent), desk.machine, "hi", str(agent.parent / run))
    return running(agent.parent / f"{run}.log", variables, *command)


def test_page_shows_the_function_that_is_to_be_replaced() -> None:
    shown = (GUIDE / "agents.md").read_text().split("```python\n")[1].split("```")[0]
    assert shown.startswith("def decide(")
    assert shown in (GUIDE / "agent.py").read_text()


def test_agent_looks_decides_and_acts(desk: Workstation, agent: Path, witness: Witness) -> None:
    with begun(desk, agent, "run-1") as program:
        assert program.ends() == 0, program.output
    assert "done in 3 steps" in program.output
    assert presses(witness.take()) == TYPED


def test_agent_that_is_killed_and_started_again_does_nothing_twice(
    workstation: Workstation, agent: Path, witness: Witness, tmp_path: Path
) -> None:
    desk = workstation
    # So that the agent comes no further than its click before it is killed.
    with desk.joined(failpoints="after-done=stop") as client:
        with begun(desk, agent, "run-2") as program:
            until(lambda: state_of(client.process.pid) == "T", "it has clicked")
            program.kill()
        go_on(client.process.pid)
        with (tmp_path / "run-2.session").open("a") as session:
            session.write('{"decided": {"opera')
        with begun(desk, agent, "run-2") as program:
            assert program.ends() == 0, program.output
        with begun(desk, agent, "run-2") as program:
            assert program.ends() == 1
    assert "came to its end before" in program.output
    assert presses(witness.take()) == TYPED


def test_agent_waits_until_its_machine_may_be_worked_again(
    desk: Workstation, agent: Path, witness: Witness
) -> None:
    api, machine = desk.api, desk.machine
    assert api.call("PATCH", f"/v1/machines/{machine}", {"paused": True}).status == 200
    with begun(desk, agent, "run-3") as program:
        assert api.call("PATCH", f"/v1/machines/{machine}", {"paused": False}).status == 200
        assert program.ends() == 0, program.output
    assert presses(witness.take()) == TYPED
