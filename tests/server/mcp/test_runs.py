"""A model begins a run once, follows it, and is told why it goes no further."""

from typing import Any

import pytest

from farhand import AsyncFarhand, InvalidRequest
from schemas.inputs.outcomes import Refused
from server.mcp.refusals import sentence
from server.mcp.tools import call
from tests.runs import approved, playing, steps
from tests.server.mcp.test_keys import TOOL_USE
from tests.service import ScriptedMachine, Service

TYPED = {
    "operation": "keyboard.type",
    "body": {"text": "{{order}}"},
    "parameters": {"order": {"type": "integer"}},
}


async def told(service: Service, tool: str, meta: Any = None, **arguments: Any) -> Any:
    async with AsyncFarhand(service.url, service.token, wait_for_machine=False) as farhand:
        return (await call(farhand, tool, arguments, meta or {}, b"caller")).facts


async def test_run_is_begun_and_followed_to_its_halt_and_its_end(
    service: Service, machine: ScriptedMachine
) -> None:
    trajectory = await approved(service, steps("a", "b"), is_main=True)
    of = {"machine": "desk-1", "workflow": trajectory["workflow_id"]}
    begun = await told(service, "run_workflow", **of)
    run = begun["run"]
    assert (begun["status"], begun["step"], begun["steps"]) == ("scheduling", 1, 2)
    assert (await told(service, "get_run", run=run, wait=0))["status"] == "scheduling"
    async with playing(service, machine) as player:
        player.outcomes = [Refused(code="outside", message="it is outside")]
        halted = await told(service, "get_run", run=run, wait=45)
        assert (halted["status"], halted["step"]) == ("running", 1)
        assert halted["halted"]["reason"] == "input_refused"
        of_run = f"/v1/runs/{run}"
        seen = (await service.get(of_run)).json["halted"]["at"]
        await service.post(f"{of_run}/continue", {"halted_at": seen, "skip": True})
        ended = await told(service, "get_run", run=run, wait=45)
    assert ended == {"run": run, "status": "success", "step": 3, "steps": 2}


async def test_repeated_call_begins_no_second_run(
    service: Service, machine: ScriptedMachine
) -> None:
    trajectory = await approved(service, steps("a"), is_main=True)
    of = {"machine": machine.machine_id, "workflow": trajectory["workflow_id"]}
    first = await told(service, "run_workflow", **of)
    named = await told(service, "run_workflow", idempotency_key=first["idempotency_key"], **of)
    assert named == first
    by_host = {"claudecode/toolUseId": TOOL_USE}
    calls = [await told(service, "run_workflow", by_host, **of) for _ in range(2)]
    assert calls[0] == calls[1]
    assert calls[0]["run"] != first["run"]
    assert (await service.get("/v1/runs")).json["total"] == 2
    assert (await told(service, "run_workflow", **of))["run"] not in (first["run"], calls[0]["run"])
    assert (await service.get("/v1/runs")).json["total"] == 3


async def test_values_are_those_of_the_run(service: Service, machine: ScriptedMachine) -> None:
    trajectory = await approved(service, [TYPED], is_main=True)
    of = {"machine": machine.machine_id, "workflow": trajectory["workflow_id"]}
    with pytest.raises(InvalidRequest) as refused:
        await told(service, "run_workflow", values={"order": "many"}, **of)
    assert "input_values.order: " in sentence(refused.value)
    begun = await told(service, "run_workflow", values={"order": "4711"}, **of)
    async with playing(service, machine) as player:
        followed = begun
        while followed["status"] in ("scheduling", "running"):
            followed = await told(service, "get_run", run=begun["run"])
        assert followed["status"] == "success"
        assert player.pressed == ["4711"]
