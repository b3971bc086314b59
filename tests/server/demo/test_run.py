"""What the demo tells people to type."""

import subprocess
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from schemas.inputs.bodies import DragMouse
from server.demo.run import command_lines, curl_line


def test_curl_line_is_whole_in_a_shell_whatever_the_path(tmp_path: Path) -> None:
    directory = tmp_path / 'it\'s a $HOME `of` "mine"'
    directory.mkdir()
    token = directory / "token"
    token.write_text("fh_secret\n")
    line = curl_line("http://127.0.0.1:8600", token)
    script = f"curl() {{ printf '%s\\n' \"$@\"; }}; {line}"
    said = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True)
    arguments = said.stdout.splitlines()
    assert arguments[1] == "Authorization: Bearer fh_secret"
    assert arguments[3] == "Content-Type: application/json"
    assert TypeAdapter(DragMouse).validate_json(arguments[5])
    assert arguments[6] == "http://127.0.0.1:8600/v1/computer/demo/input/mouse/drag"


ECHO = "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"
"""A program that prints its arguments, a line for each."""


def scripts(directory: Path) -> Path:
    """A directory with a command ``farhand``."""
    directory.mkdir()
    (directory / "farhand").write_text(ECHO)
    (directory / "farhand").chmod(0o700)
    return directory


def test_commands_are_found_after_what_was_said_whatever_the_path(tmp_path: Path) -> None:
    data = tmp_path / 'it\'s a $HOME `of` "mine"'
    lines = command_lines(scripts(data), data)
    assert len(lines) == 2
    said = subprocess.run(
        ["/bin/sh", "-ec", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["machine", "show", "demo", "--data-dir", str(data)]


def test_no_path_is_said_where_the_commands_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, others = scripts(tmp_path / "ours"), scripts(tmp_path / "others")
    monkeypatch.setenv("PATH", f"{ours}:{others}")
    assert command_lines(ours, tmp_path) == [f"farhand machine show demo --data-dir {tmp_path}"]
    # Those of another installation are not the demo's.
    assert len(command_lines(others, tmp_path)) == 2
