"""The ledger on the real database, with a machine client played by the test."""

import asyncio
import json
from typing import Any

import pytest

from schemas.inputs import MoveMouse
from schemas.outcomes import NotCarriedOut
from schemas.problems import InvalidRequestError, ProblemError
from schemas.wire import CloseCode, Input, Resolve
from server.dispatch.command import Command
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from server.store.errors import StoreUnavailable
from tests.commands import accepted, keep_sent, ledger_of, recorded
from tests.links import JOURNAL_ID, hello
from tests.service import Service, new_key


def answering(service: Service, command: Command) -> asyncio.Task[tuple[Answer, bool]]:
    """Ask for the command's answer in the background."""
    services = service.server.services
    return services.background.start(services.ledger.answer(command), "a caller of the test")


async def problem_of(waiting: asyncio.Task[tuple[Answer, bool]]) -> str:
    with pytest.raises(ProblemError) as caught:
        await waiting
    return caught.value.problem_type.name


@pytest.mark.gen_test
async def test_record_says_sent_before_the_machine_hears_of_the_command(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected(hello(sequence=9)) as link:
        link.sequence = 9
        command = accepted(service, new_key())
        waiting = answering(service, command)
        heard = await link.heard(Input)
        record = await recorded(service, heard.command_id)
        assert record.state is CommandState.SENT
        assert (record.epoch, record.journal_id, record.journal_sequence) == (1, JOURNAL_ID, 9)
        assert record.fingerprint == heard.fingerprint == command.fingerprint
        await link.acknowledge(heard.command_id)
        await waiting


@pytest.mark.gen_test
async def test_answer_is_stored_before_it_is_given(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, new_key())
        waiting = answering(service, command)
        await link.obey()
        answer, replayed = await waiting
        assert not replayed
        record = await recorded(service, command.id)
        assert (record.state, record.answer) == (CommandState.DONE, answer)


@pytest.mark.gen_test
async def test_command_without_a_key_leaves_no_record(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service)
        waiting = answering(service, command)
        await link.obey()
        assert (await waiting)[0].status == 200
        assert await ledger_of(service).find(command.id) is None


@pytest.mark.gen_test
async def test_work_goes_on_when_its_caller_has_gone(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, new_key())
        waiting = answering(service, command)
        heard = await link.heard(Input)
        waiting.cancel()
        await link.acknowledge(heard.command_id)
        again, _ = await service.server.services.ledger.answer(command)
        assert again.status == 200
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_key_is_free_again_when_the_link_goes_before_anything_was_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = await service.new_machine()
    claim = CommandStore.claim_sent
    async with machine.connected() as link:
        live = await machine.until_live()

        async def claim_then_lose_the_link(store: CommandStore, record: CommandRecord) -> bool:
            claimed = await claim(store, record)
            live.close(CloseCode.SERVER_STOPPING, "in the midst of it")
            return claimed

        monkeypatch.setattr(CommandStore, "claim_sent", claim_then_lose_the_link)
        command = accepted(service, new_key())
        assert await problem_of(answering(service, command)) == "machine-unavailable"
        assert await ledger_of(service).find(command.id) is None
        await link.closed()
    monkeypatch.undo()
    await machine.until_gone()
    async with machine.connected() as link:
        waiting = answering(service, command)
        await link.obey()
        assert (await waiting)[1] is False


@pytest.mark.gen_test
async def test_outcome_that_cannot_be_stored_is_pending_then_asked_for_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> bool:
        raise StoreUnavailable("The database did not answer in time.")

    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, new_key())
        monkeypatch.setattr(CommandStore, "finish", fail)
        waiting = answering(service, command)
        await link.obey()
        assert await problem_of(waiting) == "outcome-pending"
        monkeypatch.undo()
        again = answering(service, command)
        question = await link.heard(Resolve)
        await link.report(question.command_id, NotCarriedOut())
        answer, replayed = await again
        assert (answer.status, replayed) == (503, True)


@pytest.mark.gen_test
async def test_nothing_is_sent_when_the_claim_may_have_failed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> bool:
        raise StoreUnavailable("The database did not answer in time.")

    machine = await service.new_machine()
    async with machine.connected() as link:
        monkeypatch.setattr(CommandStore, "claim_sent", fail)
        with pytest.raises(StoreUnavailable):
            await answering(service, accepted(service, new_key()))
        await link.nothing_heard()
        assert (await machine.until_live()).unanswered == 0


@pytest.mark.gen_test
async def test_claim_of_another_node_is_resolved_and_never_sent_again(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, new_key())
        await keep_sent(service, command)
        waiting = answering(service, command)
        question = await link.heard(Resolve)
        assert question.command_id == command.id
        await link.report(command.id, NotCarriedOut())
        answer, replayed = await waiting
        assert (answer.status, replayed) == (503, True)
        assert (await recorded(service, command.id)).state is CommandState.NOT_CARRIED_OUT


@pytest.mark.gen_test
async def test_command_that_was_sent_stays_pending_while_its_machine_is_away(
    service: Service,
) -> None:
    await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command)
    assert await problem_of(answering(service, command)) == "outcome-pending"
    assert (await recorded(service, command.id)).state is CommandState.SENT


@pytest.mark.gen_test
async def test_first_final_state_wins_over_a_later_acknowledgement(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        command = accepted(service, new_key())
        waiting = answering(service, command)
        heard = await link.heard(Input)
        first = Answer(502, "application/problem+json", json.dumps({"final": True}).encode())
        record = await recorded(service, command.id)
        await ledger_of(service).finish(command.id, CommandState.UNKNOWN, first, record.accepted_at)
        await link.acknowledge(heard.command_id)
        assert (await waiting)[0] == first


@pytest.mark.gen_test
async def test_other_request_under_the_key_is_refused_while_the_first_runs(
    service: Service,
) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        key = new_key()
        waiting = answering(service, accepted(service, key))
        heard = await link.heard(Input)
        other = accepted(service, key, body=MoveMouse(x=0, y=0))
        with pytest.raises(InvalidRequestError) as caught:
            await service.server.services.ledger.answer(other)
        assert caught.value.entries[0].loc == ["header", "Idempotency-Key"]
        await link.acknowledge(heard.command_id)
        assert (await waiting)[0].status == 200
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_late_answer_is_kept_for_the_next_who_asks(service: Service) -> None:
    machine = await service.new_machine()
    async with machine.connected() as link:
        key = new_key()
        waiting = answering(service, accepted(service, key, timeout=0.1))
        heard = await link.heard(Input)
        assert await problem_of(waiting) == "outcome-pending"
        impatient = answering(service, accepted(service, key, timeout=0.1))
        assert await problem_of(impatient) == "idempotency-key-in-progress"
        patient = answering(service, accepted(service, key))
        await link.acknowledge(heard.command_id)
        answer, replayed = await patient
        assert (answer.status, replayed) == (200, True)
