"""Who may call which tool: whoever may send the request that it stands for, and nobody else."""

import asyncio
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, NewToken, Scope
from server.identity.tokens import make_token
from server.mcp.tools import TOOLS
from tests.mcp_client import called, result_of
from tests.server.api.route_table import TABLE
from tests.service import Service, new_key, stores_of

INPUT = "/v1/computer/{machine_id}/input"


class Pair(NamedTuple):
    """A tool's arguments, and the request that does the same."""

    tool: str
    arguments: dict[str, Any]
    method: str
    path: str
    body: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.tool} {self.arguments}"


def _clicks(*tools: str) -> Iterable[Pair]:
    for tool in tools:
        yield Pair(tool, {"coordinate": [1, 1]}, "POST", f"{INPUT}/mouse/click", {"x": 1, "y": 1})


def _actions(body: dict[str, Any], arguments: dict[str, Any], tool: str = "actions") -> Pair:
    return Pair(tool, arguments, "POST", "/v1/computer/{machine_id}/actions", body)


CLICK = {"operation": "mouse.click", "x": 1, "y": 1}
COPY = {"operation": "clipboard.write", "text": "a"}
WAIT = {"operation": "wait_for", "any": [{"still": 1}]}
SCREENSHOT = "/v1/computer/{machine_id}/display/screenshot"
ELEMENTS = "/v1/computer/{machine_id}/elements"
CLIPBOARD = "/v1/computer/{machine_id}/clipboard"
KEYS, TYPING = f"{INPUT}/keyboard/key", f"{INPUT}/keyboard/type"

NOTHING = "00000000-0000-4000-8000-000000000001"

# fmt: off
PAIRS = (
    *_clicks("left_click", "right_click", "middle_click", "double_click", "triple_click",
             "left_mouse_down", "left_mouse_up"),
    Pair("mouse_move", {"coordinate": [1, 1]}, "POST", f"{INPUT}/mouse/move", {"x": 1, "y": 1}),
    Pair("left_click_drag", {"start_coordinate": [1, 1], "coordinate": [2, 2]}, "POST",
         f"{INPUT}/mouse/drag", {"start_x": 1, "start_y": 1, "to_x": 2, "to_y": 2}),
    Pair("scroll", {"scroll_direction": "up", "scroll_amount": 1}, "POST", f"{INPUT}/mouse/scroll",
         {"direction": "up", "amount": 1}),
    Pair("key", {"text": "a"}, "POST", KEYS, {"text": "a"}),
    Pair("hold_key", {"text": "a", "duration": 1}, "POST", KEYS, {"text": "a", "hold": 1}),
    Pair("type", {"text": "a"}, "POST", TYPING, {"text": "a"}),
    Pair("clipboard_write", {"text": "a"}, "PUT", CLIPBOARD, {"text": "a"}),
    Pair("clipboard_read", {}, "GET", CLIPBOARD),
    Pair("screenshot", {}, "GET", SCREENSHOT),
    Pair("zoom", {"region": [0, 0, 9, 9]}, "GET", f"{SCREENSHOT}?region=0,0,9,9"),
    Pair("cursor_position", {}, "GET", f"{INPUT}/mouse/position"),
    Pair("wait_for", {"still": 1}, "POST", "/v1/computer/{machine_id}/wait",
         {"any": [{"still": 1}]}),
    Pair("read_texts", {}, "GET", "/v1/computer/{machine_id}/display/texts"),
    Pair("find_elements", {}, "GET", ELEMENTS),
    Pair("click_element", {"role": "push button"}, "POST", f"{INPUT}/mouse/click",
         {"element": {"role": "push button"}}),
    Pair("wait_for", {"element_name": "Save"}, "POST", "/v1/computer/{machine_id}/wait",
         {"any": [{"element": {"name": "Save"}}]}),
    Pair("list_machines", {}, "GET", "/v1/machines"),
    Pair("start_recording", {}, "POST", "/v1/machines/{machine_id}/recordings", {"of": "me"}),
    Pair("stop_recording", {"recording": NOTHING}, "POST",
         "/v1/recordings/{recording_id}/stop"),
    Pair("request_help", {"reason": "r", "wait": 0}, "POST", "/v1/help",
         {"machine_id": "desk-1", "kind": "help", "reason": "r"}),
    Pair("run_workflow", {"workflow": NOTHING}, "POST", "/v1/runs",
         {"workflow_id": NOTHING, "machine_id": "desk-1"}),
    Pair("get_run", {"run": NOTHING, "wait": 0}, "GET", "/v1/runs/{run_id}"),
    _actions({"actions": [{"operation": "wait", "seconds": 1}]}, {"duration": 1}, "wait"),
    _actions({"actions": [CLICK]}, {"actions": [CLICK]}),
    _actions({"actions": [CLICK, COPY]}, {"actions": [CLICK, COPY]}),
    _actions({"actions": [CLICK, WAIT]}, {"actions": [CLICK, WAIT]}),
    _actions({"actions": [CLICK], "screenshot": {}}, {"actions": [CLICK], "screenshot": True}),
)
# fmt: on

NEEDED = (
    *(Scope.INPUT_SEND, Scope.SCREEN_READ, Scope.CLIPBOARD, Scope.MACHINES_READ),
    *(Scope.RECORDINGS_WRITE, Scope.RUNS_READ, Scope.RUNS_WRITE),
)

SETS = (
    *((scope,) for scope in NEEDED),
    tuple(scope for scope in Scope if scope not in NEEDED),
    (Scope.INPUT_SEND, Scope.SCREEN_READ),
    (Scope.INPUT_SEND, Scope.CLIPBOARD),
    tuple(ADMINISTRATOR_SCOPES),
)
"""The scopes of the tokens that each tool is called with."""


def test_every_tool_has_its_request_and_every_request_its_row() -> None:
    assert {pair.tool for pair in PAIRS} == {*TOOLS}
    rows = {(row.method, row.path) for row in TABLE}
    assert {(pair.method, pair.path.partition("?")[0]) for pair in PAIRS} <= rows


async def by_rest(service: Service, pair: Pair, token: str) -> str:
    """How a request ends: as a problem, or well."""
    path = pair.path.format(machine_id="desk-1", recording_id=NOTHING, run_id=NOTHING)
    headers = {} if pair.method == "GET" else {"Idempotency-Key": new_key()}
    reply = await service.request(pair.method, path, pair.body, token=token, headers=headers)
    if reply.status == 422:
        return "wrong"
    return "done" if reply.status in (200, 201) else reply.problem


async def by_mcp(service: Service, pair: Pair, token: str) -> str:
    """How the tool ends."""
    has_machine = "machine" in TOOLS[pair.tool].model_fields
    arguments = {**pair.arguments, **({"machine": "desk-1"} if has_machine else {})}
    reply = await service.post("/mcp", called(pair.tool, arguments), token=token)
    if reply.status != 200:
        return reply.problem
    result = result_of(reply)
    if not result.is_error:
        return "done"
    assert result.structured_content is not None
    return str(result.structured_content.get("problem", "wrong"))


async def differing(service: Service, token: str, known: set[str]) -> list[tuple[str, str, str]]:
    """The tools that end otherwise than their requests."""
    verdicts = await asyncio.gather(
        *(by_rest(service, pair, token) for pair in PAIRS),
        *(by_mcp(service, pair, token) for pair in PAIRS),
    )
    known |= {*verdicts}
    both = zip(PAIRS, verdicts[: len(PAIRS)], verdicts[len(PAIRS) :], strict=True)
    return [(pair.name, rest, mcp) for pair, rest, mcp in both if rest != mcp]


async def test_no_cell_differs_from_rest(service: Service) -> None:
    await service.new_machine()
    known: set[str] = set()
    for scopes in SETS:
        machine_id = "desk-1" if Scope.MACHINE_CONNECT in scopes else None
        token = await service.new_token(*scopes, machine_id=machine_id)
        assert await differing(service, token, known) == [], scopes
    assert known == {"forbidden", "machine-unavailable", "not-found", "done", "wrong"}


async def test_nor_does_it_for_strangers(service: Service) -> None:
    await service.new_machine()
    known: set[str] = set()
    revoked = make_token(service.organization_id, NewToken(name="n", scopes=[Scope.INPUT_SEND]))
    tokens = stores_of(service.server).tokens
    await tokens.insert(revoked.stored)
    await tokens.revoke(service.organization_id, revoked.stored.id)
    for token in ((await service.elsewhere()).token, "fh_unknown", revoked.secret):
        assert await differing(service, token, known) == []
    assert known == {"not-found", "done", "unauthenticated"}


@pytest.mark.parametrize(
    ("held", "missing"),
    [(Scope.INPUT_SEND, Scope.CLIPBOARD), (Scope.SCREEN_READ, Scope.INPUT_SEND)],
)
async def test_scope_that_a_part_of_several_actions_needs_is_named(
    service: Service, held: Scope, missing: Scope
) -> None:
    await service.new_machine()
    token = await service.new_token(held)
    arguments = {"machine": "desk-1", "actions": [CLICK, COPY]}
    reply = await service.post("/mcp", called("actions", arguments), token=token)
    assert f"lacks the scope {missing}." in str(result_of(reply).content)
