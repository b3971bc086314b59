"""A stranger's path through the guide: its commands, read out of its pages and run as they stand.

From a clone to a click on a second machine, all in one shell but for what is done on that machine.
"""

import json
import re
import shlex
import stat
import subprocess
from pathlib import Path

from tests.desktop import DeviceEvent, Witness, program, virtual_display
from tests.end_to_end.system import presses
from tests.markdown import blocks
from tests.processes import SCRIPTS, free_port, running

PROJECT = Path(__file__).parents[2]
INSTALL = "make install\n"
ON_ANOTHER_COMPUTER = ("ssh ", "scp ")


def commands(page: str) -> list[str]:
    """The blocks of commands of a page of the guide."""
    return blocks((PROJECT / "docs" / "guide" / f"{page}.md").read_text())


def keys(text: str) -> set[str]:
    """The names in a JSON object."""
    return set(json.loads(text))


def secrets(directory: Path) -> list[Path]:
    """The files with a token in them."""
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return [file for file in files if re.search(rb"\bfh_[\w-]{20}", file.read_bytes())]


def path_through_the_guide(clone: Path, second_home: Path, second_display: str) -> str:
    """The script that does what the pages say."""
    first = "".join(commands("first-machine"))
    assert first.startswith(INSTALL)
    *click, end = commands("first-click")
    invite, tunnel, _, join, click_there = commands("second-machine")
    assert tunnel.startswith(ON_ANOTHER_COMPUTER)
    there = f"HOME={shlex.quote(str(second_home))} DISPLAY={second_display}"
    watch, change, audit = commands("operating")
    show = watch.splitlines(keepends=True)[1]
    return "".join(
        (
            f"set -euvo pipefail\ncd {shlex.quote(str(clone))}\n",
            first.removeprefix(INSTALL),
            *click,
            # What a person carries over is in a variable here, so that nobody sees it.
            f"export CODE=$({invite.strip()})\n",
            f"{there} bash -euc {shlex.quote(join.replace('CODE', '$CODE'))} &\n",
            click_there,
            *(show, change, audit),
            # The first machine was removed at last, and its client has ended.
            f"{end.strip()} %3 2>/dev/null || true\nwait\n",
        )
    )


def clicks(events: list[DeviceEvent]) -> list[tuple[int, int]]:
    """Where something was clicked."""
    assert set(presses(events)) <= {"ButtonPress 1", "ButtonRelease 1"}
    return [(event.x, event.y) for event in events if event.kind == "ButtonPress"]


def test_commands_lead_to_clicks_on_two_machines(
    display: str, witness: Witness, tmp_path: Path
) -> None:
    clone, home, second_home = (tmp_path / name for name in ("farhand", "home", "second"))
    for directory in (clone, home, second_home):
        directory.mkdir()
    # Where the tests run is what `make install` has made, and what pip installs there: CI begins
    # with it.
    (clone / ".venv").symlink_to(SCRIPTS.parent)
    (second_home / "farhand-machine").symlink_to(SCRIPTS.parent)
    port = free_port()
    with virtual_display() as second_display:
        second_witness = Witness(second_display)
        text = path_through_the_guide(clone, second_home, second_display)
        here = text.replace("127.0.0.1:8600", f"127.0.0.1:{port}")
        assert "8600" not in here
        script = tmp_path / "commands.sh"
        # Shown as they are read, not as they are run: then tokens would be in them.
        script.write_text(here)
        variables = {
            "HOME": str(home),
            "XDG_DATA_HOME": "",
            "XDG_STATE_HOME": "",
            "DISPLAY": display,
            "FARHAND_PORT": str(port),
        }
        with running(tmp_path / "said", variables, program("bash"), str(script)) as shell:
            code = shell.ends(100)
            said = shell.output
        assert code == 0, f"{here}\n\nsaid:\n{said}"
        assert clicks(witness.take()) == [(640, 360)] * 2, said
        assert clicks(second_witness.take()) == [(640, 360)], said
        second_witness.close()
    # The answer is like the one that is shown.
    (shown,) = blocks((PROJECT / "docs" / "guide" / "first-click.md").read_text(), "json")
    answered = next(line for line in said.splitlines() if '"command_id"' in line)
    assert keys(re.findall(r'{"command_id".*?}}', answered)[0]) == keys(shown)
    # Nobody else can read what was made.
    made = {file.relative_to(tmp_path).as_posix() for file in secrets(tmp_path)}
    assert {"farhand/machine-token", "farhand/program-token"} <= made
    assert any(name.startswith("second/.local/state/farhand-machine/token") for name in made)
    for file in made:
        assert stat.S_IMODE((tmp_path / file).stat().st_mode) & 0o077 == 0, file
        if file.startswith("farhand/"):
            name = file.removeprefix("farhand/")
            called = [program("git"), "check-ignore", "--no-index", "--quiet", name]
            assert subprocess.run(called, cwd=PROJECT, check=False).returncode == 0, name
