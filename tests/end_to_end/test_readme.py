"""The commands of README.md, read out of it and run as they stand, all in one shell."""

import json
import re
import shutil
import stat
import subprocess
from pathlib import Path

from tests.desktop import Witness, program
from tests.end_to_end.system import presses
from tests.processes import SCRIPTS, environment, free_port, running

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text()
INSTALL = "make install\n"


def section(heading: str) -> str:
    """What stands under a heading."""
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks of code in a text, commands by default."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for named, block in found if named == language]


def keys(text: str) -> set[str]:
    """The names in a JSON object."""
    return set(json.loads(text))


def secrets(directory: Path) -> list[Path]:
    """The files with a token in them."""
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return [file for file in files if re.search(rb"\bfh_[\w-]{20}", file.read_bytes())]


def test_commands_lead_to_a_double_click(display: str, witness: Witness, tmp_path: Path) -> None:
    clone, home, port = tmp_path / "farhand", tmp_path / "home", free_port()
    clone.mkdir()
    home.mkdir()
    # Where the tests run is what `make install` has made: CI begins with it.
    (clone / ".venv").symlink_to(SCRIPTS.parent)
    commands = "\n".join(blocks(section("Use it")))
    assert commands.startswith(INSTALL)
    here = commands.removeprefix(INSTALL).replace("127.0.0.1:8600", f"127.0.0.1:{port}")
    assert "8600" not in here
    script = tmp_path / "commands.sh"
    # Shown as they are read, not as they are run: then tokens would be in them.
    script.write_text(f"set -euvo pipefail\ncd '{clone}'\n{here}\nwait\n")
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
    events = witness.take()
    assert presses(events) == ["ButtonPress 1", "ButtonRelease 1"] * 2, f"{here}\n\nsaid:\n{said}"
    assert {(event.x, event.y) for event in events if event.kind == "ButtonPress"} == {(640, 360)}
    # The answer is like the one that is shown.
    (shown,) = blocks(section("Use it"), "json")
    answered = next(line for line in said.splitlines() if '"command_id"' in line)
    assert keys(re.findall(r'{"command_id".*?}}', answered)[0]) == keys(shown)
    # Nobody else can read what was made.
    made = {file.relative_to(tmp_path).as_posix() for file in secrets(tmp_path)}
    assert {"farhand/machine-token", "farhand/program-token"} <= made
    for file in made:
        assert stat.S_IMODE((tmp_path / file).stat().st_mode) & 0o077 == 0, file
        if file.startswith("farhand/"):
            name = file.removeprefix("farhand/")
            called = [program("git"), "check-ignore", "--no-index", "--quiet", name]
            assert subprocess.run(called, cwd=PROJECT, check=False).returncode == 0, name


def test_first_commands_find_the_demo(tmp_path: Path) -> None:
    clone, test = blocks(section("See it work"))
    assert "make demo\n" in clone
    script = clone.replace("<this repository>", str(PROJECT)).replace("make ", "make --dry-run ")
    ended = subprocess.run(
        [program("bash"), "-euxo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0, f"{script}\n\nsaid:\n{ended.stdout}{ended.stderr}"
    assert ".venv/bin/farhand demo" in ended.stdout
    # CI runs for real what would take too long here.
    ci = (PROJECT / ".ci" / "run").read_text()
    assert INSTALL in ci
    assert "\nmake demo ARGS=--once\n" in ci
    assert test in ci


def test_supported_desktops_are_named_at_the_top() -> None:
    top = "\n".join(README.splitlines()[:10])
    for word in ("X11", "Linux", "Wayland", "Windows", "macOS"):
        assert word in top


def test_readme_needs_no_program_that_its_requirements_lack() -> None:
    needed = section("See it work").split("```")[0]
    for name in ("git", "make", "curl"):
        assert f" {name}" in needed
        assert shutil.which(name)
