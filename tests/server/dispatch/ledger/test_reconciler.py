"""What earlier links left open, when the machine is back."""

import asyncio
from uuid import uuid4

import pytest

from schemas.inputs.outcomes import ActionResult, Completed, NotCarriedOut, Point, Unknown
from schemas.link.close_codes import CloseCode
from schemas.link.messages import SERVER_MESSAGES, Hello, Ready, Resolve, Welcome
from server.dispatch.ledger import reconciler as reconciler_module
from server.store.commands import CommandState
from tests.commands import accepted, answering, keep_sent, kept_as_sent, recorded
from tests.links import hello
from tests.service import ScriptedLink, Service, new_key


async def test_open_commands_are_resolved_before_anything_new_is_sent(service: Service) -> None:
    machine = await service.new_machine()
    done, never = accepted(service, new_key()), accepted(service, new_key())
    await keep_sent(service, done)
    await keep_sent(service, never)
    async with machine.connected(wait_until_live=False) as link:
        questions = [(await link.heard(Resolve)).command_id for _ in range(2)]
        assert set(questions) == {done.id, never.id}
        sending = machine.moving(new_key())
        await link.nothing_heard()
        await link.report(done.id, Completed(duration_ms=7, pointer=Point(x=1, y=2)))
        await link.nothing_heard()
        await link.report(never.id, NotCarriedOut())
        await link.obeys(sending)
        assert (await recorded(service, done.id)).state is CommandState.DONE
        assert (await recorded(service, never.id)).state is CommandState.NOT_CARRIED_OUT


async def test_running_command_is_final_with_its_acknowledgement(service: Service) -> None:
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, None)
        # What runs keeps nothing away: the machine carries out one after the other.
        await machine.until_live()
        asking = answering(service, command)
        await link.nothing_heard()
        assert (await recorded(service, command.id)).state is CommandState.SENT
        await link.acknowledge(command.id)
        assert (await asking)[0].status == 200
        assert (await recorded(service, command.id)).state is CommandState.DONE


async def test_begun_and_not_finished_is_unknown(service: Service) -> None:
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, Unknown(injected_at_least=2))
        await machine.until_live()
        record = await recorded(service, command.id)
        assert record.state is CommandState.UNKNOWN
        assert record.outcome == Unknown(injected_at_least=2)


@pytest.mark.parametrize(
    "greeting",
    [hello(sequence=7), hello(sequence=8, journal_id=uuid4())],
    ids=["went back", "another journal"],
)
async def test_lost_journal_leaves_open_commands_unknown_before_it_gets_a_mark(
    service: Service, greeting: Hello
) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command, epoch=0, journal_sequence=8)
    async with machine.open_websocket() as websocket:
        link = ScriptedLink(websocket, greeting.journal.sequence)
        await link.say(greeting)
        await link.heard(Welcome)
        assert (await recorded(service, command.id)).state is CommandState.SENT
        await link.say(Ready())
        # The mark is asked for by the first heartbeat, and nothing was asked before.
        async with asyncio.timeout(10):
            frame = await websocket.recv()
        assert SERVER_MESSAGES.validate_json(frame).type == "heartbeat"
        assert (await recorded(service, command.id)).state is CommandState.UNKNOWN


async def test_after_another_boot_what_the_journal_knows_is_told_and_the_rest_is_unknown(
    service: Service,
) -> None:
    machine = await service.new_machine()
    begun, never = accepted(service, new_key()), accepted(service, new_key())
    await keep_sent(service, begun, epoch=0, journal_sequence=8)
    await keep_sent(service, never, epoch=0, journal_sequence=8)
    results = tuple(
        ActionResult(operation="mouse.click", status=status)
        for status in ("completed", "unknown", "not_begun")
    )
    greeting = hello(sequence=8, boot_id="2")
    async with machine.connected(greeting, wait_until_live=False) as link:
        for _ in range(2):
            await link.heard(Resolve)
        await link.report(begun.id, Unknown(actions=results))
        await link.report(never.id, NotCarriedOut())
        await machine.until_live()
    assert (await recorded(service, begun.id)).outcome == Unknown(actions=results)
    assert (await recorded(service, never.id)).state is CommandState.UNKNOWN


async def test_machine_that_does_not_say_what_became_of_a_command_is_sent_away(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciler_module, "REPORT_SECONDS", 0.05)
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        code, reason = await link.closed()
        assert code == CloseCode.REPORT_MISSED
        assert str(command.id) in reason
    assert (await recorded(service, command.id)).state is CommandState.SENT
