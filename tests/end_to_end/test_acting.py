"""The program of docs/guide/actions.md, as it stands there, on real desktops of each kind."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.end_to_end import other_desktops
from tests.end_to_end.shortcuts import terminal_of_x
from tests.end_to_end.system import Workstation
from tests.processes import ServerProcess, running
from tests.waiting import eventually

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


@pytest.fixture(params=["x11", *other_desktops.KINDS])
def machine(
    request: pytest.FixtureRequest, workstation: Workstation, tmp_path: Path
) -> Iterator[Workstation]:
    """A machine on a desktop of each kind, where ctrl+alt+t opens a terminal."""
    if request.param == "x11":
        with terminal_of_x(workstation.display, tmp_path):
            yield workstation
        return
    with (
        other_desktops.running(request.param, tmp_path) as desktop,
        desktop.terminal_at_shortcut(tmp_path),
    ):
        yield desktop.machine(workstation)


def test_program_opens_a_window_types_into_it_and_has_the_picture(
    machine: Workstation, shared_server: ServerProcess, tmp_path: Path
) -> None:
    variables = {
        "FARHAND_URL": shared_server.url,
        "FARHAND_TOKEN": shared_server.administrators_token(),
    }
    log, typed = tmp_path / "act.log", tmp_path / "typed"
    command = ("python", str(GUIDE / "act.py"), machine.machine)
    with machine.joined(), contextlib.chdir(tmp_path):
        with running(log, variables, *command) as program:
            assert program.ends() == 0, program.output
        eventually(lambda: typed.read_bytes().endswith(b"\r") or None, "all of it is typed")
        assert typed.read_bytes() == b"echo hello\r"

        def notes() -> list[str] | None:
            path = f"/v1/machines/{machine.machine}/commands"
            items = machine.api.call("GET", path).json["items"]
            found = [each["note"] for each in items if each["operation"] == "actions"]
            return found if len(found) == 2 else None

        assert eventually(notes, "both requests are among the commands") == [
            "1 action: 1 text",
            "3 actions: 1 key combination, 2 waits",
        ]
    with Image.open(tmp_path / "screen.png") as picture:
        assert picture.size == (1280, 800)
        colours = picture.convert("RGB").getcolors(1 << 24)
        assert colours is not None
        assert len(colours) > 1


def test_page_shows_the_program() -> None:
    shown = (GUIDE / "actions.md").read_text().split("```python\n")[1].split("```")[0]
    assert shown in (GUIDE / "act.py").read_text()
