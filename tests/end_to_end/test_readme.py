"""The commands of README.md: those for the demo lead to it, the others are the guide's."""

import shutil
import subprocess
from pathlib import Path

from tests.desktop import program
from tests.markdown import blocks
from tests.processes import environment

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text()
INSTALL = "make install\n"


def section(heading: str) -> str:
    """What stands under a heading."""
    return README.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_click_is_that_of_the_guide() -> None:
    page = (PROJECT / "docs" / "guide" / "first-click.md").read_text()
    (click,) = blocks(section("Use it"))
    assert click in blocks(page)
    assert blocks(section("Use it"), "json") == blocks(page, "json")


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
