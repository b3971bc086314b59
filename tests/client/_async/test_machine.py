"""A machine in a program's hands: real server, real MongoDB, a machine that the test plays."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

import farhand
from farhand import AsyncFarhand, actions
from farhand._async.machine import AsyncMachine
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import ActionResult, Completed, Failed, Point, Refused
from schemas.link.messages import Input
from tests.service import ScriptedLink, ScriptedMachine, Service

Result = TypeVar("Result")


@asynccontextmanager
async def desk_of(service: Service, machine_id: str) -> AsyncIterator[AsyncMachine]:
    async with AsyncFarhand(service.url, service.token, timeout=30) as client:
        yield client.machine(machine_id)


async def obeyed(link: ScriptedLink, call: Awaitable[Result]) -> tuple[Result, Input]:
    """What a call returns, and the command that the machine was told."""
    calling = asyncio.ensure_future(call)  # noqa: TID251 - the caller, beside the machine
    command = await link.obey()
    return await calling, command


async def test_each_input_reaches_the_machine_as_it_was_meant(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with desk_of(service, machine.machine_id) as desk:
        for call, operation, fields in (
            (desk.click(3, 4, clicks=2), Operation.MOUSE_CLICK, {"x": 3, "y": 4, "clicks": 2}),
            (desk.move(3, 4), Operation.MOUSE_MOVE, {"x": 3}),
            (desk.drag(1, 2, 3, 4), Operation.MOUSE_DRAG, {"start_x": 1, "to_y": 4}),
            (desk.scroll("down", 3), Operation.MOUSE_SCROLL, {"direction": "down", "amount": 3}),
            (desk.key("ctrl+a"), Operation.KEYBOARD_KEY, {"text": "ctrl+a"}),
            (desk.type("4711"), Operation.KEYBOARD_TYPE, {"text": "4711"}),
        ):
            done, command = await obeyed(link, call)
            assert command.operation == operation
            body = command.body if isinstance(command.body, dict) else command.body.model_dump()
            assert {name: body[name] for name in fields} == fields
            assert (done.operation, done.status, done.replayed) == (operation, "completed", False)
            assert done.pointer.x == 3


async def test_same_key_gets_the_first_answer_and_nothing_is_sent(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    async with desk_of(service, machine.machine_id) as desk:
        first, _ = await obeyed(link, desk.click(3, 4, key=key))
        again = await desk.click(3, 4, key=key)
        assert again.replayed
        assert again.command_id == first.command_id
        await link.nothing_heard()
        with pytest.raises(farhand.InvalidRequest) as caught:
            await desk.click(5, 6, key=key)
        assert caught.value.is_about_the_key


async def test_what_the_machine_refuses_and_what_failed_are_told_apart(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with desk_of(service, machine.machine_id) as desk:
        calling = asyncio.ensure_future(desk.click(9999, 4))  # noqa: TID251
        await link.obey(Refused(code="outside_display", message="no", loc=("body", "x")))
        with pytest.raises(farhand.InvalidRequest, match=r"body\.x: no"):
            await calling
        calling = asyncio.ensure_future(desk.click(1, 4))  # noqa: TID251
        await link.obey(Failed(code="x_error", message="no", injected_at_least=1))
        with pytest.raises(farhand.InputFailed) as caught:
            await calling
        assert caught.value.may_have_happened
        assert caught.value.code == "x_error"


async def test_several_actions_are_one_command_and_each_has_its_end(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    ends = tuple(
        ActionResult(operation=name, status="completed", duration_ms=1.0)
        for name in ("mouse.click", "keyboard.type")
    )
    outcome = Completed(duration_ms=2.0, pointer=Point(x=3, y=4), actions=ends)
    async with desk_of(service, machine.machine_id) as desk:
        calling = asyncio.ensure_future(  # noqa: TID251
            desk.actions([actions.click(3, 4), actions.type("4711")])
        )
        command = await link.obey(outcome)
        done = await calling
    assert command.operation is Operation.ACTIONS
    assert [each.operation for each in done.actions] == ["mouse.click", "keyboard.type"]
    assert done.screenshot is None


async def test_machine_that_is_away_is_waited_for_or_an_error_at_once(
    service: Service, machine: ScriptedMachine
) -> None:
    async with AsyncFarhand(service.url, service.token, wait_for_machine=False) as client:
        with pytest.raises(farhand.MachineUnavailable) as caught:
            await client.machine(machine.machine_id).click()
    assert caught.value.reason == "offline"
    async with desk_of(service, machine.machine_id) as desk:
        calling = asyncio.ensure_future(desk.click(3, 4))  # noqa: TID251
        async with machine.connected() as link:
            await link.obey()
            assert (await calling).status == "completed"


@pytest.mark.own_server
@pytest.mark.parametrize("settings", [{"input_timeout": 1}])
async def test_answer_that_is_late_is_asked_for_until_it_is_there(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with desk_of(service, machine.machine_id) as desk:
        calling = asyncio.ensure_future(desk.click(3, 4))  # noqa: TID251
        command = await link.heard(Input)
        pending = desk._connection.send("GET", f"/v1/commands/{command.command_id}")
        assert (await pending).json["state"] == "sent"
        await link.acknowledge(command.command_id)
        assert (await calling).command_id == command.command_id
        await link.nothing_heard()


async def test_control_is_taken_and_given_back(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with (
        desk_of(service, machine.machine_id) as desk,
        AsyncFarhand(service.url, service.token, wait_for_machine=False) as others,
    ):
        told = asyncio.ensure_future(link.interrupted())  # noqa: TID251
        async with desk.control(note="a test") as lease:
            await told
            done, _ = await obeyed(link, desk.click(3, 4))
            assert done.status == "completed"
            with pytest.raises(farhand.MachineUnavailable) as caught:
                await others.machine(machine.machine_id).click()
            assert caught.value.reason == "controlled"
            assert not lease.private
            assert (await desk.make_private()).private
            held = (await desk.get()).control
            assert held is not None
            assert held.private
            assert not (await desk.make_private(False)).private
            with pytest.raises(farhand.ControlHeld):
                async with others.machine(machine.machine_id).control():
                    pass
            told = asyncio.ensure_future(link.interrupted())  # noqa: TID251
        await told
        assert (await desk.get()).control is None
        with pytest.raises(ValueError, match=r"within control\(\)"):
            await desk.make_private()
        done, _ = await obeyed(link, desk.click(3, 4))
        assert done.status == "completed"
    assert lease.machine_id == machine.machine_id


async def test_machine_is_paused_renamed_looked_at_and_removed(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    async with desk_of(service, machine.machine_id) as desk:
        await obeyed(link, desk.click(3, 4))
        assert (await desk.pause("lunch")).paused
        assert not (await desk.resume()).paused
        assert (await desk.rename("Reception")).name == "Reception"
        while not (listed := [each async for each in desk.commands()]):
            pass  # The list is written a moment later.
        assert (await desk.command(str(listed[0].command_id))).state == "done"
        await desk.remove()
        with pytest.raises(farhand.NotFound):
            await desk.get()
