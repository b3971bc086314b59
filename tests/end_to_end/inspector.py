"""``make test-inspector``: MCP's own inspector, from npm, at ``/mcp`` and at ``farhand mcp``.

It is no part of ``make test``: it needs Node, and brings 119 other packages.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from server.mcp.tools import TOOLS
from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.processes import SCRIPTS, ServerProcess

INSPECTOR = Path(__file__).parents[2] / ".venv" / "inspector" / "node_modules" / ".bin"
WAYS = ("http", "stdio")


class Inspector:
    """The program, told how to reach the tools."""

    def __init__(self, home: Path, way: str, url: str, token: str) -> None:
        self._variables = {"HOME": str(home), "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
        self._reaching = {
            "http": [f"{url}/mcp", "--transport", "http"],
            "stdio": ["-e", f"FARHAND_URL={url}", "-e", f"FARHAND_TOKEN={token}", "farhand", "mcp"],
        }[way]
        self._after = ["--header", f"Authorization: Bearer {token}"] if way == "http" else []

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run it to its end."""
        return subprocess.run(
            [INSPECTOR / "mcp-inspector", "--cli", *self._reaching, *arguments, *self._after],
            env=self._variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """What a tool says."""
        pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
        given = ("--tool-arg", *pairs) if pairs else ()
        called = self.run("--method", "tools/call", "--tool-name", tool, *given)
        return json.loads(called.stdout)


@pytest.fixture(params=WAYS)
def inspector(
    request: pytest.FixtureRequest, desk: Workstation, shared_server: ServerProcess, tmp_path: Path
) -> Inspector:
    token = shared_server.administrators_token()
    return Inspector(tmp_path, request.param, desk.url, token)


def test_it_finds_nothing_wrong_with_the_tools(inspector: Inspector) -> None:
    listed = inspector.run("--method", "tools/list", "--strict")
    assert listed.returncode == 0, listed.stderr
    assert [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == [*TOOLS]


def test_it_works_a_desktop(inspector: Inspector, desk: Workstation, witness: Witness) -> None:
    machine = {"machine": desk.machine}
    said = inspector.call("left_click", {**machine, "coordinate": [5, 6], "text": "ctrl"})
    assert said["structuredContent"]["status"] == "completed", said
    (picture, _) = inspector.call("screenshot", machine)["content"]
    assert picture["mimeType"] == "image/png"
    actions = [{"operation": "mouse.click", "button": "right"}]
    assert not inspector.call("actions", {**machine, "actions": actions}).get("isError")
    refused = inspector.call("left_click", {**machine, "coordinate": [5, 6000]})
    assert refused["isError"] is True
    assert "Wrong arguments" in refused["content"][0]["text"]
    assert presses(witness.take()) == [
        *("KeyPress 37", "ButtonPress 1", "ButtonRelease 1", "KeyRelease 37"),
        *("ButtonPress 3", "ButtonRelease 3"),
    ]
