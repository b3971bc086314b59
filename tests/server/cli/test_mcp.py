"""``farhand mcp``, started as hosts start it."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from schemas.inputs.bodies import Operation
from server.mcp.tools import TOOLS
from tests.commandline import command, environment, run
from tests.mcp_client import MODES, called, facts_of, refusal_of
from tests.service import ScriptedLink, Service

EXECUTABLE, *ARGUMENTS = command(["mcp"])


@pytest.mark.parametrize("mode", MODES)
async def test_host_that_starts_it_works_with_its_tools(
    service: Service, link: ScriptedLink, mode: str
) -> None:
    variables = environment(FARHAND_URL=service.url, FARHAND_TOKEN=service.token)
    started = StdioServerParameters(command=EXECUTABLE, args=ARGUMENTS, env=variables)
    meta: Any = {"claudecode/toolUseId": "toolu_01JRZMoGStk2TJgF4mWczUGH"}
    async with Client(started, mode=mode) as client, asyncio.TaskGroup() as background:
        assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS]
        typing = {"machine": "desk-1", "text": "a"}
        calling = background.create_task(client.call_tool("type", typing, meta=meta))
        sent = await link.obey()
        assert sent.operation is Operation.KEYBOARD_TYPE
        facts = facts_of(await calling)
        again = await client.call_tool("type", typing, meta=meta)
        assert facts_of(again) == {**facts, "replayed": True}
        other = await client.call_tool("type", {**typing, "machine": "desk-2"})
        assert "no such machine" in refusal_of(other)


def test_what_is_no_message_ends_nothing_and_the_end_of_input_does() -> None:
    """The server is away, too; that is a sentence for the model."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    params["clientInfo"] = {"name": "a host", "version": "1"}
    begun = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    notified = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = ["no message", json.dumps(begun), json.dumps(notified), "{}"]
    lines.append(json.dumps(called("type", {"machine": "desk-1", "text": "hunter2"})))
    ended = subprocess.run(
        [EXECUTABLE, *ARGUMENTS],
        env=environment(FARHAND_URL="http://127.0.0.1:1", FARHAND_TOKEN="fh_secret"),
        input="\n".join([*lines, ""]),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    answers = {each.get("id"): each for each in map(json.loads, ended.stdout.splitlines())}
    assert answers[0]["result"]["serverInfo"]["name"] == "farhand"
    assert "fh_secret" not in ended.stdout + ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [
        ("nonsense", "fh_x", "'nonsense' is no server's address"),
        ("http://127.0.0.1:1", "two words", "the token has characters that no token has"),
    ],
)
def test_address_or_token_that_cannot_be_one_is_told(url: str, token: str, said: str) -> None:
    ended = run("mcp", "--url", url, "--token", token)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert token not in ended.stderr


def test_model_does_not_get_the_administrators_token(tmp_path: Path) -> None:
    (tmp_path / "address").write_text("http://127.0.0.1:1\n")
    (tmp_path / "admin-token").write_text("fh_administrator\n")
    ended = run("mcp", "--data-dir", str(tmp_path))
    assert ended.exit_code == 2
    assert "give a token of the model's own" in ended.stderr
