"""What the demo tells people to type."""

import subprocess
from pathlib import Path

from pydantic import TypeAdapter

from schemas.inputs import DragMouse
from server.demo.run import curl_line


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
