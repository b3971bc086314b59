"""Runs by a program: begun once, waited for, cancelled, continued and begun again."""

import asyncio

import pytest

import farhand
from farhand import AsyncFarhand
from farhand.types import NewRun
from schemas.inputs.outcomes import Refused
from tests.runs import approved, playing, steps
from tests.service import ScriptedMachine, Service


async def test_program_begins_a_run_and_waits_for_its_end(
    service: Service, machine: ScriptedMachine
) -> None:
    trajectory = await approved(service, steps("a", "b"), is_main=True)
    async with (
        AsyncFarhand(service.url, service.token, timeout=30) as f,
        playing(service, machine) as player,
    ):
        player.outcomes = [Refused(code="outside", message="it is outside")]
        of = {"workflow": trajectory["workflow_id"], "machine": machine.machine_id}
        begun = await f.runs.create(**of, key="tonight", priority=9)
        assert (await f.runs.create(**of, key="tonight", priority=9)).id == begun.id
        halted = await begun.wait(halts=True)
        assert halted.halted is not None
        assert (halted.halted.reason, halted.halted.step) == ("input_refused", 1)
        async with asyncio.TaskGroup() as background:
            waiting = background.create_task(begun.wait())
            await f.runs.resume(halted, skip=True)
        ended = waiting.result()
        assert (ended.status, [each.status for each in ended.steps]) == (
            *("success", ["skipped", "done"]),
        )
        for again in (begun.id, halted):
            with pytest.raises(farhand.WrongState):
                await f.runs.resume(again)
        with pytest.raises(farhand.InvalidRequest, match="give halted_at"):
            await f.runs.resume(begun.id, skip=True)
        retried = await f.runs.retry(begun.id)
        assert (await retried.wait()).retry_of == begun.id
        assert [each.id async for each in f.runs.list(status="success")] == [retried.id, begun.id]


async def test_many_are_begun_once_and_one_that_cannot_be_run_stops_no_other(
    service: Service, machine: ScriptedMachine
) -> None:
    trajectory = await approved(service, steps("a"), is_main=True)
    right = NewRun(workflow=trajectory["workflow_id"], machine=machine.machine_id)
    wanted: list[NewRun] = [right, {**right, "values": {"more": "1"}}, {**right, "priority": 9}]
    async with (
        AsyncFarhand(service.url, service.token, timeout=30) as f,
        playing(service, machine) as player,
    ):
        begun = await f.runs.create_many(wanted, key="tonight")
        assert (await f.runs.create_many(wanted, key="tonight")) == begun
        assert [each.status for each in begun.items] == ["begun", "refused", "begun"]
        assert "input_values.more: " in (begun.items[1].detail or "")
        for each in begun.items:
            if each.run_id is not None:
                assert (await f.runs.wait(each.run_id)).status == "success"
        assert player.pressed == ["a", "a"]
        with pytest.raises(ValueError, match="a run has no machines"):
            await f.runs.create_many([{**right, "machines": "a"}])  # type: ignore[typeddict-unknown-key]
        with pytest.raises(farhand.InvalidRequest):
            await f.runs.create_many([])


async def test_wait_gives_up_in_time_and_a_run_is_cancelled(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    async with AsyncFarhand(service.url, service.token, timeout=30) as f:
        begun = await f.runs.create(trajectory=trajectory["id"], machine="desk-1")
        assert (await begun.wait(timeout=0)).status == "scheduling"
        assert (await f.runs.cancel(begun.id)).status == "cancelled"
