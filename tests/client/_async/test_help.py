"""Help by a program: it asks and waits, and somebody else answers; real server, real MongoDB."""

import asyncio

import pytest

import farhand
from farhand import AsyncFarhand
from farhand._async import help as help_module
from schemas.resources.tokens import Scope
from tests.server.api.test_help import until_waiting
from tests.service import Service


async def test_program_asks_and_goes_on_once_somebody_has_answered(service: Service) -> None:
    await service.new_machine()
    token = await service.new_token(Scope.INPUT_SEND, Scope.MACHINES_READ)
    async with (
        AsyncFarhand(service.url, token, timeout=30) as program,
        AsyncFarhand(service.url, service.token, timeout=30) as person,
    ):
        async with asyncio.TaskGroup() as background:
            desk = program.machine("desk-1")
            asking = background.create_task(desk.help("Send it?", kind="approval", key="send"))
            await until_waiting(service)
            (asked,) = [each async for each in person.help.list(state="open")]
            assert (asked.reason, asked.machine_id) == ("Send it?", "desk-1")
            with pytest.raises(farhand.Forbidden):
                await program.help.answer(asked.id, "approve")
            answered = await person.help.answer(asked.id, "approve", comment="Yes.")
        assert asking.result() == answered == await program.help.get(asked.id)
        # Started again, it gets the answer at once, and nobody is asked anew.
        assert await desk.help("Send it?", kind="approval", key="send") == answered
        with pytest.raises(farhand.WrongState, match="administrator answered it"):
            await program.help.withdraw(asked.id)


async def test_wait_goes_on_for_longer_than_one_answer_takes(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(help_module, "LONGEST_WAIT", 1)
    await service.new_machine()
    async with AsyncFarhand(service.url, service.token, timeout=30) as program:
        ended = await program.machine("desk-1").help("Nobody is there.", timeout=2)
        assert (ended.state, ended.answer) == ("timed_out", None)
        other = await program.help.ask("desk-1", "Never mind.")
        assert (await program.help.withdraw(other.id)).state == "withdrawn"
        assert [each.id async for each in program.help.list(limit=2)] == [other.id, ended.id]
