"""``/mcp`` of a real server: by the SDK's own client, and by bare messages."""

import asyncio
import json
import logging
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from mcp import MCPError

from schemas.inputs.bodies import ClickMouse
from schemas.link.messages import Input, Look, LookStop, Seen
from schemas.resources.tokens import Scope
from server.api.mcp import MAX_BODY_BYTES, McpHandler
from server.dispatch.here import waits
from server.mcp.tools import TOOLS
from tests.links import hello
from tests.mcp_client import (
    MODES,
    call,
    called,
    facts_of,
    mcp_client,
    refusal_of,
    result_of,
)
from tests.service import ScriptedLink, ScriptedMachine, Service, until

T = TypeVar("T")
TYPED = {"machine": "desk-1", "text": "hunter2"}
TOOL_USE = "toolu_01JRZMoGStk2TJgF4mWczUGH"
VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")


def meanwhile(service: Service, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Do something in the background."""
    return service.server.services.background.start(work, "a host of the test")


@pytest.mark.parametrize("mode", MODES)
async def test_clients_of_both_generations_list_and_call_tools(
    service: Service, link: ScriptedLink, mode: str
) -> None:
    async with mcp_client(service.url, service.token, mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [*TOOLS]
        arguments = {"machine": "desk-1", "coordinate": [640, 360], "text": "ctrl+shift"}
        calling = meanwhile(service, client.call_tool("double_click", arguments))
        command = await link.obey()
        result = await calling
        with pytest.raises(MCPError, match="There is no such tool"):
            await client.call_tool("shell", {})
    sent = {"x": 640, "y": 360, "clicks": 2, "modifiers": ["ctrl", "shift"], "in": {"fit": 1280}}
    assert ClickMouse.model_validate(command.body) == ClickMouse.model_validate(sent)
    assert facts_of(result)["status"] == "completed"
    assert result.structured_content == facts_of(result)


@pytest.mark.parametrize("version", VERSIONS)
async def test_versions_of_todays_hosts_are_spoken(service: Service, version: str) -> None:
    info = {"name": "a host", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
    begun = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    reply = await service.post("/mcp", begun)
    said = reply.json["result"]
    assert (reply.status, said["protocolVersion"]) == (200, version)
    assert said["serverInfo"]["name"] == "farhand"
    assert "list_machines" in said["instructions"]
    headers = {"MCP-Protocol-Version": version}
    notified = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    reply = await service.post("/mcp", notified, headers=headers)
    assert (reply.status, reply.body) == (202, b"")
    reply = await service.post("/mcp", called("list_machines", {}), headers=headers)
    assert facts_of(result_of(reply)) == {"machines": []}


async def test_same_ids_and_arguments_of_two_connections_are_two_calls(
    service: Service, link: ScriptedLink
) -> None:
    keys = set()
    for _ in range(2):
        calling = meanwhile(service, call(service, "type", TYPED, number=1))
        await link.obey()
        facts = facts_of(await calling)
        assert "replayed" not in facts
        keys.add(facts["idempotency_key"])
    assert len(keys) == 2


async def test_call_that_its_host_names_is_done_once(service: Service, link: ScriptedLink) -> None:
    meta = {"claudecode/toolUseId": TOOL_USE, "progressToken": 2}
    calling = meanwhile(service, call(service, "type", TYPED, number=2, meta=meta))
    await link.obey()
    first = facts_of(await calling)
    again = facts_of(await call(service, "type", TYPED, number=3, meta=meta))
    assert again == {**first, "replayed": True}
    await link.nothing_heard()
    other = await call(service, "type", {**TYPED, "text": "b"}, meta=meta)
    assert "idempotency" in refusal_of(other).lower()
    # The same name by another token, or for another tool, is another call.
    token = await service.new_token(Scope.INPUT_SEND)
    key = {"machine": "desk-1", "text": "a"}
    for calls in (
        call(service, "type", TYPED, meta=meta, token=token),
        call(service, "key", key, meta=meta),
    ):
        calling = meanwhile(service, calls)
        await link.obey()
        assert "replayed" not in facts_of(await calling)


async def test_key_of_a_result_repeats_a_call(service: Service, link: ScriptedLink) -> None:
    calling = meanwhile(service, call(service, "type", TYPED))
    await link.obey()
    key = facts_of(await calling)["idempotency_key"]
    again = await call(service, "type", {**TYPED, "idempotency_key": key})
    assert facts_of(again)["replayed"] is True
    await link.nothing_heard()


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (b"no JSON", [["body"]]),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', [["body"]]),
        (b'"ping"', [["body"]]),
        (b"{}", [["body", "jsonrpc"], ["body", "method"]]),
        (b'{"jsonrpc": "1.0", "id": [], "method": 5}', None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', [["body", "params"]]),
    ],
)
async def test_what_is_no_message_is_told_what_is_wrong(
    service: Service, content: bytes, places: list[list[str]] | None
) -> None:
    reply = await service.post(
        "/mcp", content=content, headers={"Content-Type": "application/json"}
    )
    assert reply.status == 422
    assert places in (None, [entry["loc"] for entry in reply.json["detail"]])
    assert all(entry["input"] is None for entry in reply.json["detail"])


async def test_ten_megabytes_are_refused(service: Service) -> None:
    reply = await service.post("/mcp", called("type", {**TYPED, "text": "a" * 10_000_000}))
    assert reply.refusal == (413, "body-too-large")
    assert reply.json["max_bytes"] == MAX_BODY_BYTES


async def test_nested_deeply_it_costs_nobody_anything(service: Service) -> None:
    content = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 9000
    reply = await service.post(
        "/mcp", content=content, headers={"Content-Type": "application/json"}
    )
    assert reply.status == 422


async def test_method_that_there_is_not_is_told_as_the_protocol_has_it(service: Service) -> None:
    reply = await service.post("/mcp", {"jsonrpc": "2.0", "id": 7, "method": "prompts/list"})
    assert reply.json["error"]["message"] == "Method not found"
    headers = {"MCP-Protocol-Version": "2030-01-01"}
    reply = await service.post("/mcp", called("list_machines", {}), headers=headers)
    assert reply.status == 400
    assert "io.modelcontextprotocol/protocolVersion" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("left_click", {}, "machine: Field required"),
        ("left_click", {"machine": "../x"}, "machine: must be 1 to 128 letters"),
        ("left_click", {"machine": "desk-1", "x": 5}, "x: Extra inputs are not permitted"),
        ("left_click", {"machine": "desk-1", "coordinate": [1]}, "coordinate: List should have at"),
        (
            "left_click",
            {"machine": "desk-1", "coordinate": [5, 1280]},
            "than 1280",
        ),
        ("left_click", {"machine": "desk-1", "text": "hyper"}, "must name a modifier"),
        ("key", {"machine": "desk-1", "text": "no-such"}, "text: "),
        ("scroll", {"machine": "desk-1", "scroll_amount": 3}, "scroll_direction: Field required"),
        ("zoom", {"machine": "desk-1", "region": [5, 5, 5, 9]}, "right and bottom are larger"),
        ("wait_for", {"machine": "desk-1"}, "give still, such as 0.5, changed: true, a text, or"),
        ("actions", {"machine": "desk-1", "actions": [{"operation": "x"}]}, "actions.0: operation"),
        ("type", {"machine": "desk-2", "text": "a"}, "no such machine. list_machines"),
        ("type", {"machine": "desk-1", "text": "a"}, "It is not connected. This call did nothing."),
    ],
)
async def test_what_is_wrong_with_a_call_is_a_sentence(
    service: Service, machine: ScriptedMachine, tool: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in refusal_of(await call(service, tool, arguments))


async def test_machine_in_somebodys_hands_or_paused_is_told_so(
    service: Service, link: ScriptedLink
) -> None:
    async def said() -> str:
        return refusal_of(await call(service, "type", TYPED))

    path = "/v1/machines/desk-1"
    pausing = meanwhile(service, service.request("PATCH", path, {"paused": True}))
    await link.interrupted()
    assert (await pausing).status == 200
    assert "A person paused it. This call did nothing." in await said()
    assert (await service.request("PATCH", path, {"paused": False})).status == 200
    taking = meanwhile(service, service.post(f"{path}/control", {}))
    await link.interrupted()
    assert (await taking).status == 201
    assert "A person has control of it. This call did nothing." in await said()
    await link.nothing_heard()


async def test_scope_that_is_missing_is_named(service: Service, machine: ScriptedMachine) -> None:
    token = await service.new_token(Scope.SCREEN_READ)
    said = refusal_of(await call(service, "type", TYPED, token=token))
    assert "The token lacks the scope input:send. Nothing was done" in said


@pytest.mark.parametrize(
    ("headers", "is_refused"),
    [
        ({"Origin": "https://elsewhere.example"}, True),
        ({"Origin": "null"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Origin": "own"}, False),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({}, False),
    ],
)
async def test_pages_of_other_sites_may_not_call(
    service: Service, headers: dict[str, str], is_refused: bool
) -> None:
    given = {name: value.replace("own", service.url) for name, value in headers.items()}
    reply = await service.post("/mcp", called("list_machines", {}), headers=given)
    assert reply.status == (403 if is_refused else 200)
    if is_refused:
        assert reply.problem == "cross-site-request"


async def test_session_of_the_console_does_not_let_in(service: Service) -> None:
    headers = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}
    begun = await service.post(
        "/console/session", {"token": service.token}, token=None, headers=headers
    )
    assert begun.status < 300
    headers["Cookie"] = begun.headers["Set-Cookie"].partition(";")[0]
    for tool in (called("list_machines", {}), called("type", {**TYPED, "text": "a" * 9000})):
        reply = await service.post("/mcp", tool, token=None, headers=headers)
        assert reply.refusal == (401, "unauthenticated")


async def test_only_post_is_taken(service: Service) -> None:
    for method in ("GET", "DELETE"):
        reply = await service.request(method, "/mcp", headers={"Accept": "text/event-stream"})
        assert reply.refusal == (405, "method-not-allowed")
        assert reply.headers["Allow"] == "POST"


async def test_no_token_and_no_text_is_in_the_log(
    service: Service,
    link: ScriptedLink,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    calling = meanwhile(service, call(service, "type", TYPED))
    await link.obey()
    await calling
    await call(service, "type", {**TYPED, "idempotency_key": ""})
    params = {"name": 5, "arguments": {"text": "hunter2"}}
    wrong = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    await service.post("/mcp", wrong)

    async def fails(*_: object) -> None:
        raise RuntimeError(TYPED["text"], service.token)

    monkeypatch.setattr(TOOLS["type"], "do", fails)
    result = await call(service, "type", TYPED)
    assert refusal_of(result) == "Farhand made a mistake. Take a screenshot before you go on."
    service.flush_access_log()
    assert "the tool type failed: RuntimeError" in caplog.text
    assert "/input/keyboard/type 200" in caplog.text
    assert "POST /mcp 200" in caplog.text
    assert "hunter2" not in caplog.text
    assert service.token not in caplog.text


async def test_same_request_has_one_id_in_the_log(
    service: Service, link: ScriptedLink, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    message = called("type", TYPED)
    calling = meanwhile(
        service, service.post("/mcp", message, headers={"X-Request-Id": "of-a-host"})
    )
    await link.obey()
    assert (await calling).headers["X-Request-Id"] == "of-a-host"
    service.flush_access_log()
    assert caplog.text.count("request=of-a-host POST") == 2


async def test_calls_are_recorded_as_those_of_the_token(
    service: Service, link: ScriptedLink
) -> None:
    calling = meanwhile(service, call(service, "type", TYPED))
    await link.obey()
    await calling
    recorder = service.server.services.operation.recorder
    await until(lambda: recorder.waiting == 0)
    (entry, *_) = (await service.get("/v1/audit?limit=1")).json["items"]
    assert (entry["action"], entry["token_name"]) == ("input.keyboard.type", "administrator")


@pytest.mark.own_server
async def test_call_under_way_when_the_server_stops_is_answered(
    service: Service, machine: ScriptedMachine
) -> None:
    operation = service.server.services.operation
    async with machine.connected() as link, asyncio.TaskGroup() as background:
        calling = background.create_task(call(service, "type", TYPED))
        command = await link.heard(Input)
        background.create_task(service.server.stop())
        await until(lambda: operation.stopping)
        await link.acknowledge(command.command_id)
        assert facts_of(await calling)["status"] == "completed"


@pytest.mark.own_server
async def test_call_that_comes_when_the_server_stops_is_refused_as_any_request(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.server.services.operation, "stopping", True)
    reply = await service.post("/mcp", called("type", TYPED))
    assert reply.refusal == (503, "server-stopping")


@pytest.mark.own_server
async def test_wait_ends_with_a_word_when_the_server_leaves(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node answers the next call; the library tries nothing here any more."""
    monkeypatch.setattr(waits, "POLL_SECONDS", 0.05)
    async with service.joined(hello(no_screen=None)) as (_, link):
        waiting = meanwhile(service, call(service, "wait_for", {"machine": "desk-1", "still": 1}))
        await link.heard(Look)
        monkeypatch.setattr(service.server.services.operation, "leaving", True)
        stopped = await link.heard(LookStop)
        await link.say(Seen(request=stopped.request, matched=None, at=None, elapsed=1))
        assert refusal_of(await waiting).startswith("The server is stopping.")


async def test_wait_of_a_host_that_leaves_ends_and_nothing_is_left(service: Service) -> None:
    async with service.joined(hello(no_screen=None)) as (_, link):
        _, writer = await service.open_connection()
        body = json.dumps(called("wait_for", {"machine": "desk-1", "still": 1})).encode()
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        asked = await link.heard(Look)
        writer.close()
        stopped = await link.heard(LookStop)
        assert stopped.request == asked.request
        await link.say(Seen(request=stopped.request, matched=None, at=None, elapsed=1))
        operation = service.server.services.operation
        await until(lambda: operation.under_way == 0)
        await until(lambda: not [each for each in asyncio.all_tasks() if "MCP" in each.get_name()])
        await until(lambda: not service.server.services.machines.waits)


@pytest.mark.own_server
async def test_call_whose_answer_the_stop_forbids_is_told_so(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was let in, and then its input is not: the library does not try for minutes."""
    operation = service.server.services.operation
    do = TOOLS["type"].do  # type: ignore[attr-defined]

    async def late(*arguments: Any) -> Any:
        monkeypatch.setattr(operation, "leaving", True)
        monkeypatch.setattr(operation, "stopping", True)
        return await do(*arguments)

    monkeypatch.setattr(TOOLS["type"], "do", late)
    said = refusal_of(await call(service, "type", TYPED))
    assert said.startswith("The server is stopping.")


async def test_missing_sdk_is_named(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    await service.post("/mcp", called("list_machines", {}))
    monkeypatch.setattr(McpHandler, "_loaded", None)
    monkeypatch.delitem(sys.modules, "server.mcp.over_http")
    monkeypatch.delattr("server.mcp.over_http")
    monkeypatch.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
    reply = await service.post("/mcp", called("list_machines", {}))
    assert reply.refusal == (501, "not-installed")
    assert "mcp is not installed on this server" in reply.json["detail"]
    assert "farhand[mcp]" in reply.json["detail"]
