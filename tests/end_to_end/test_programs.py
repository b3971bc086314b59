"""The programs of two pages of the guide, as they stand there, on a real desktop."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.desktop import Terminal, somebody_else
from tests.desktop import running as running_on_desktop
from tests.end_to_end.system import Workstation
from tests.markdown import blocks
from tests.processes import (
    Program,
    ServerProcess,
    environment,
    go_on,
    running,
    state_of,
    until,
)

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def started(
    name: str, server: ServerProcess, directory: Path, *arguments: str
) -> AbstractContextManager[Program]:
    variables = {"FARHAND_URL": server.url, "FARHAND_TOKEN": server.administrators_token()}
    return running(directory / "log", variables, "python", str(GUIDE / name), *arguments)


@pytest.fixture
def calculator(desk: Workstation) -> Iterator[None]:
    """A calculator in the upper left corner of the desk's screen."""
    with running_on_desktop("galculator", env=environment(DISPLAY=desk.display)):
        yield


def test_program_calculates_with_a_calculator(
    calculator: None, desk: Workstation, shared_server: ServerProcess, tmp_path: Path
) -> None:
    somebody_else(desk.display, *("search", "--sync", "--onlyvisible", "--class", "galculator"))
    with started("calculate.py", shared_server, tmp_path, desk.machine) as program:
        assert program.ends() == 0, program.output
    assert program.output.strip() == "408"


def test_script_that_is_killed_goes_on_where_it_was(
    workstation: Workstation, shared_server: ServerProcess, tmp_path: Path
) -> None:
    desk = workstation
    lines = [f"order {number}" for number in range(40)]
    orders = tmp_path / "orders"
    orders.write_text("\n".join(lines))
    with (
        Terminal.open(desk.display, tmp_path) as terminal,
        # So that the script comes no further before it is killed.
        desk.joined(failpoints="after-done=stop@5") as client,
    ):
        with started("orders.py", shared_server, tmp_path, desk.machine, str(orders)) as program:
            program.says("typed: order 3")
            until(lambda: state_of(client.process.pid) == "T", "the next is typed")
            program.kill()
        go_on(client.process.pid)
        with started("orders.py", shared_server, tmp_path, desk.machine, str(orders)) as program:
            assert program.ends() == 0, program.output
        assert "was typed before: order 3" in program.output
        assert "typed: order 39" in program.output
        assert terminal.typed_before("order 39\r").split("\r") == [*lines[:-1], ""]
        with started("orders.py", shared_server, tmp_path, desk.machine, str(orders)) as program:
            assert program.ends() == 1
    assert "SessionFinished" in program.output


@pytest.mark.parametrize(("page", "program"), [("programs", "calculate"), ("sessions", "orders")])
def test_page_shows_the_program(page: str, program: str) -> None:
    shown = blocks((GUIDE / f"{page}.md").read_text(), "python")[0]
    assert shown[shown.index("with Farhand") :] in (GUIDE / f"{program}.py").read_text()


def test_calculation_is_short() -> None:
    code = re.sub(r'^""".*"""$', "", (GUIDE / "calculate.py").read_text(), flags=re.MULTILINE)
    assert len([line for line in code.splitlines() if line]) <= 12
