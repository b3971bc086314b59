"""The tools of a real server and a real desktop, by the SDK's own client."""

import asyncio
import base64
import json
import os
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.desktop import Witness
from tests.end_to_end.system import Workstation, presses
from tests.markdown import blocks
from tests.mcp_client import facts_of, mcp_client, pictures_of, refusal_of
from tests.pictures import decoded
from tests.processes import SCRIPTS, ServerProcess

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "mcp.md"


async def test_model_looks_acts_and_looks_again(
    desk: Workstation, witness: Witness, shared_server: ServerProcess
) -> None:
    async with mcp_client(desk.url, shared_server.administrators_token()) as client:

        async def call(tool: str, **arguments: Any) -> Any:
            return await client.call_tool(tool, {"machine": desk.machine, **arguments})

        (shown,) = pictures_of(await call("screenshot"))
        assert shown.mime_type == "image/png"
        assert decoded(base64.b64decode(shown.data)).size == (1280, 800)
        facts_of(await call("left_click", coordinate=[1279, 799], text="ctrl"))
        assert facts_of(await call("cursor_position")) == {"x": 1279, "y": 799}
        facts_of(await call("key", text="Return", repeat=2))
        (closer,) = pictures_of(await call("zoom", region=[640, 400, 740, 450]))
        assert decoded(base64.b64decode(closer.data)).size == (100, 50)
        actions = [
            {"operation": "mouse.click", "x": 5, "y": 6},
            {"operation": "keyboard.type", "text": "a"},
        ]
        acted = await call("actions", actions=actions, screenshot=True)
        assert len(pictures_of(acted)) == 1
        assert [each["status"] for each in facts_of(acted)["actions"]] == ["completed"] * 2
        assert facts_of(await call("wait_for", still=0.2))["matched"] == "still"
        facts_of(await call("clipboard_write", text="copied"))
        assert facts_of(await call("clipboard_read")) == {"text": "copied"}
        beside = await call("left_click_drag", start_coordinate=[1, 1], coordinate=[1, 1200])
        assert "outside the displays" in refusal_of(beside)
    assert presses(witness.take()) == [
        *("KeyPress 37", "ButtonPress 1", "ButtonRelease 1", "KeyRelease 37"),
        *("KeyPress 36", "KeyRelease 36") * 2,
        *("ButtonPress 1", "ButtonRelease 1", "KeyPress 38", "KeyRelease 38"),
    ]


async def test_page_of_the_guide_leads_a_host_to_the_tools(
    desk: Workstation, tmp_path: Path, shared_server: ServerProcess
) -> None:
    """Its commands as they stand, and hosts that are told what it says."""
    page = GUIDE.read_text().replace("http://127.0.0.1:8600", desk.url)
    path = f"{SCRIPTS}:{os.environ['PATH']}"
    data_dir = str(shared_server.directory / "data")
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", "".join(blocks(page))),
        cwd=tmp_path,
        env={"PATH": path, "FARHAND_DATA_DIR": data_dir},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await shell.communicate()
    assert shell.returncode == 0
    assert json.dumps(f'"machine": "{desk.machine}"')[1:-1] in output.decode()
    token = (tmp_path / "mcp-token").read_text().strip()
    assert token.encode() not in output
    by_http, by_command = (
        json.loads(block.replace("${FARHAND_TOKEN}", token))["mcpServers"]["farhand"]
        for block in blocks(page, "json")
    )
    assert by_http["headers"] == {"Authorization": f"Bearer {token}"}
    started = StdioServerParameters(
        command=by_command["command"],
        args=by_command["args"],
        env={**by_command["env"], "PATH": path},
    )
    for host in (mcp_client(by_http["url"].removesuffix("/mcp"), token), Client(started)):
        async with host as client:
            listed = facts_of(await client.call_tool("list_machines", {}))["machines"]
            assert desk.machine in [each["machine"] for each in listed]
            (shown,) = pictures_of(await client.call_tool("screenshot", {"machine": desk.machine}))
            assert shown.mime_type == "image/png"
