"""What became of a command that an earlier link sent."""

import logging
from uuid import uuid4

import pytest

from schemas.outcomes import Completed, NotCarriedOut, Point, Unknown
from schemas.problems import ProblemError
from schemas.wire import Resolve, Welcome
from server.dispatch import resolver as resolver_module
from server.dispatch.resolver import Resolver, subject_of
from server.store.commands import CommandState
from tests.commands import accepted, keep_sent, ledger_of, recorded
from tests.links import hello
from tests.service import ScriptedLink, Service, new_key


@pytest.mark.gen_test
async def test_open_commands_are_resolved_before_the_link_takes_inputs(service: Service) -> None:
    machine = await service.new_machine()
    done, never = accepted(service, new_key()), accepted(service, new_key())
    await keep_sent(service, done)
    await keep_sent(service, never)
    async with machine.open_websocket() as websocket:
        link = ScriptedLink(websocket)
        await link.say(hello())
        await link.heard(Welcome)
        assert (await link.heard(Resolve)).command_id == done.id
        assert service.link_of("desk-1") is None
        reply = await machine.move()
        assert (reply.status, reply.problem) == (503, "machine-unavailable")
        await link.report(done.id, Completed(duration_ms=7, pointer=Point(x=1, y=2)))
        assert (await link.heard(Resolve)).command_id == never.id
        await link.report(never.id, NotCarriedOut())
        await machine.until_live()
        assert (await recorded(service, done.id)).state is CommandState.DONE
        assert (await recorded(service, never.id)).state is CommandState.NOT_CARRIED_OUT


@pytest.mark.gen_test
async def test_running_command_is_final_with_its_acknowledgement(service: Service) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command)
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, None)
        await link.nothing_heard()
        assert (await recorded(service, command.id)).state is CommandState.SENT
        await link.acknowledge(command.id)
        await machine.until_live()
        assert (await recorded(service, command.id)).state is CommandState.DONE


@pytest.mark.gen_test
async def test_begun_and_not_finished_is_unknown(service: Service) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command)
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, Unknown(injected_at_least=2))
        await machine.until_live()
        record = await recorded(service, command.id)
        assert record.state is CommandState.UNKNOWN
        assert record.answer is not None
        assert b'"injected_at_least":2' in record.answer.body


@pytest.mark.gen_test
async def test_another_journal_makes_open_commands_unknown_without_asking(
    service: Service,
) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command)
    async with machine.connected(hello(journal_id=uuid4())) as link:
        assert (await recorded(service, command.id)).state is CommandState.UNKNOWN
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_journal_that_went_back_makes_open_commands_unknown_without_asking(
    service: Service,
) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command, journal_sequence=8)
    async with machine.connected(hello(sequence=7)) as link:
        assert (await recorded(service, command.id)).state is CommandState.UNKNOWN
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_journal_at_the_same_number_can_still_be_asked(service: Service) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command, journal_sequence=8)
    async with machine.connected(hello(sequence=8), wait_until_live=False) as link:
        link.sequence = 8
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        await machine.until_live()


@pytest.mark.gen_test
async def test_question_that_is_not_answered_does_not_keep_the_machine_away(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resolver_module, "RESOLVE_SECONDS", 0.05)
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command)
    with caplog.at_level(logging.WARNING):
        async with machine.connected() as link:
            assert "stays unresolved" in caplog.text
            # Nobody waits for this report any more; whoever asks later makes the server ask again.
            question = await link.heard(Resolve)
            await link.report(question.command_id, NotCarriedOut())
            await link.nothing_heard()
            services = service.server.services
            asking = services.background.start(services.ledger.answer(command), "a caller")
            await link.heard(Resolve)
            await link.report(command.id, NotCarriedOut())
            assert (await asking)[0].status == 503


@pytest.mark.gen_test
async def test_lost_link_leaves_the_command_pending(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        live = await machine.until_live()
        command = accepted(service, new_key())
        record = await keep_sent(service, command)
        resolver = Resolver(ledger_of(service))
        asking = service.server.services.background.start(resolver.resolve(record, live), "ask")
        await link.heard(Resolve)
        await link.websocket.close()
        with pytest.raises(ProblemError) as caught:
            await asking
        assert caught.value.problem_type.name == "outcome-pending"
        with pytest.raises(ProblemError):
            await resolver.resolve(record, live)


@pytest.mark.gen_test
async def test_resolved_answer_is_the_answer_of_the_first_request(service: Service) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key(), minimal=True, request_id="first")
    record = await keep_sent(service, command)
    assert subject_of(record).request_id == "first"
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, Completed(duration_ms=7, pointer=Point(x=1, y=2)))
        await machine.until_live()
    answer = (await recorded(service, command.id)).answer
    assert answer is not None
    assert (answer.status, answer.body) == (204, b"")
