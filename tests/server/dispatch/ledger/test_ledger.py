"""The ledger on the real database, with a machine client played by the test."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.http.problems import InvalidRequestError
from schemas.inputs.bodies import MoveMouse
from schemas.inputs.outcomes import NotCarriedOut, Unknown
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input, Resolve
from server.dispatch.ledger import claims
from server.errors import StoreUnavailable
from server.store.commands import CommandRecord, CommandState, CommandStore
from tests.answers import answer_of
from tests.commands import (
    Failing,
    accepted,
    answered,
    answering,
    asking,
    found,
    is_late_after,
    keep_sent,
    kept_as_sent,
    ledger_of,
    problem_of,
    recorded,
    until_recorded,
)
from tests.links import COMPLETED, JOURNAL_ID, hello
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key
from tests.store import there

MARK = UUID(int=0x4D)


async def test_record_says_sent_before_the_machine_hears_of_the_command(service: Service) -> None:
    async with service.joined(hello(sequence=9)) as (_, link):
        command, waiting = asking(service, new_key())
        heard = await link.heard(Input)
        record = await recorded(service, heard.command_id)
        assert record.state is CommandState.SENT
        assert (record.epoch, record.journal_id, record.journal_sequence) == (1, JOURNAL_ID, 10)
        assert record.fingerprint == heard.fingerprint == command.fingerprint
        await link.acknowledge(heard.command_id)
        await waiting


async def test_answer_is_stored_before_it_is_given(service: Service, link: ScriptedLink) -> None:
    command, waiting = asking(service, new_key())
    await link.obey()
    answer, replayed = await waiting
    assert not replayed
    record = await recorded(service, command.id)
    assert (record.state, answer_of(record)) == (CommandState.DONE, answer)


async def test_command_without_a_key_leaves_no_record(service: Service, link: ScriptedLink) -> None:
    command, waiting = asking(service)
    await link.obey()
    assert (await waiting)[0].status == 200
    assert await ledger_of(service).find(command.id) is None


async def test_work_goes_on_when_its_caller_has_gone(service: Service, link: ScriptedLink) -> None:
    command, waiting = asking(service, new_key())
    heard = await link.heard(Input)
    waiting.cancel()
    await link.acknowledge(heard.command_id)
    again, _ = await answered(service, command)
    assert again.status == 200
    await link.nothing_heard()


async def test_key_is_free_again_when_the_link_goes_before_anything_was_sent(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = CommandStore.claim
    async with machine.connected() as link:
        live = await machine.until_live()

        async def claim_then_lose_the_link(
            store: CommandStore, record: CommandRecord
        ) -> CommandRecord:
            claimed = await claim(store, record)
            live.close(CloseCode.SERVER_STOPPING, "in the midst of it")
            return claimed

        monkeypatch.setattr(CommandStore, "claim", claim_then_lose_the_link)
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


@pytest.mark.parametrize("happens", [True, False], ids=["happened", "did not happen"])
@pytest.mark.parametrize("name", ["claim", "finish"])
async def test_write_that_seemed_to_fail_is_tried_again_and_the_input_sent_once(
    service: Service, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch, name: str, happens: bool
) -> None:
    failing = Failing(monkeypatch, name, 3, happens=happens)
    command, waiting = asking(service, new_key())
    await link.obey()
    answer, _ = await waiting
    assert (answer.status, failing.failures) == (200, 3)
    assert await answering(service, command) == (answer, True)
    await link.nothing_heard()


async def test_outcome_that_cannot_be_stored_is_pending_and_final_once_it_can(
    service: Service, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    Failing(monkeypatch, "finish", 1000, happens=False)
    key = new_key()
    waiting = answering(service, accepted(service, key, timeout=0.2, begin_within=10))
    await link.obey()
    assert await problem_of(waiting) == "outcome-pending"
    again = answering(service, accepted(service, key))
    monkeypatch.undo()
    answer, replayed = await again
    assert (answer.status, replayed) == (200, True)
    await link.nothing_heard()


async def test_nothing_is_sent_when_the_claim_may_have_failed(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, "claim", 1000, happens=True)
    is_late_after(monkeypatch, failing, 3)
    key = new_key()
    with pytest.raises(StoreUnavailable):
        await answering(service, accepted(service, key))
    await link.nothing_heard()
    assert (await machine.until_live()).unanswered == 0
    # Whoever asks again is told the truth: it never arrived, and now never will.
    monkeypatch.undo()
    again = answering(service, accepted(service, key))
    question = await link.heard(Resolve)
    await link.report(question.command_id, NotCarriedOut())
    assert (await again)[0].status == 503


async def test_claim_waits_for_the_link_to_settle_and_goes_out_after_it(
    service: Service, machine: ScriptedMachine
) -> None:
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False, mark=MARK) as link:
        await machine.until_up()
        command, waiting = asking(service, new_key())
        question = await link.heard(Resolve)
        await until_recorded(service, command, CommandState.CLAIMED)
        await link.report(question.command_id, NotCarriedOut())
        heard = await link.heard(Input)
        record = await recorded(service, command.id)
        assert (record.state, heard.command_id) == (CommandState.SENT, command.id)
        assert record.journal_sequence > 1
        assert record.journal_mark == MARK
        await link.acknowledge(command.id)
        assert (await waiting)[0].status == 200


async def test_claim_whose_time_passes_while_it_waits_leaves_its_key_unused(
    service: Service, machine: ScriptedMachine
) -> None:
    """The journal may know an end of it that the ledger has forgotten, and was not asked."""
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await machine.until_up()
        key = new_key()
        waiting = answering(service, accepted(service, key, begin_within=0.2))
        assert await problem_of(waiting) == "machine-unavailable"
        question = await link.heard(Resolve)
        await link.report(question.command_id, NotCarriedOut())
        await machine.until_live()
        waiting = answering(service, accepted(service, key))
        await link.obey()
        assert (await waiting)[0].status == 200


async def test_claim_whose_link_goes_while_it_waits_leaves_its_key_free(service: Service) -> None:
    machine = await service.new_machine()
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await machine.until_up()
        command, waiting = asking(service, new_key())
        await until_recorded(service, command, CommandState.CLAIMED)
        await link.websocket.close()
        assert await problem_of(waiting) == "machine-unavailable"
        assert await ledger_of(service).find(command.id) is None


@pytest.mark.parametrize("left", [0.3, -1.0], ids=["not over yet", "over"])
async def test_claim_of_a_dead_node_is_taken_over_after_its_time(
    service: Service, link: ScriptedLink, left: float
) -> None:
    command = accepted(service, new_key())
    claimed_until = datetime.now(UTC) + timedelta(seconds=left)
    dead = await keep_sent(
        service, command, state=CommandState.CLAIMED, claimed_until=claimed_until
    )
    waiting = answering(service, command)
    await link.heard(Input)
    assert datetime.now(UTC) >= claimed_until
    assert (await recorded(service, command.id)).attempt != dead.attempt
    await link.acknowledge(command.id)
    assert (await waiting)[0].status == 200


async def test_claim_that_outlives_the_callers_time_is_in_progress(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "CLAIM_POLL_SECONDS", 0.005)
    async with service.joined() as (_, link):
        command = accepted(service, new_key(), begin_within=0.2)
        await keep_sent(
            service,
            command,
            state=CommandState.CLAIMED,
            claimed_until=datetime.now(UTC) + timedelta(seconds=60),
        )
        assert await problem_of(answering(service, command)) == "idempotency-key-in-progress"
        await link.nothing_heard()


async def test_command_of_a_removed_machine_is_unknown_for_its_own_request_alone(
    service: Service,
) -> None:
    await service.new_machine()
    key = new_key()
    command = await kept_as_sent(service, key)
    await service.request("DELETE", "/v1/machines/desk-1")
    with pytest.raises(InvalidRequestError):
        await answering(service, accepted(service, key, machine_id="desk-9"))
    assert (await recorded(service, command.id)).state is CommandState.SENT
    assert (await answering(service, command))[0].status == 502


async def test_answer_that_was_given_stands_when_its_machine_is_removed(service: Service) -> None:
    async with service.joined() as (_, link):
        command, waiting = asking(service, new_key())
        await link.obey()
        first, _ = await waiting
    await service.request("DELETE", "/v1/machines/desk-1")
    assert await answering(service, command) == (first, True)
    assert (await recorded(service, command.id)).state is CommandState.DONE


@pytest.mark.parametrize("knows", [True, False], ids=["reported", "not known"])
async def test_pending_command_without_a_key_can_be_looked_up(
    service: Service, machine: ScriptedMachine, knows: bool
) -> None:
    async with machine.connected() as link:
        command, waiting = asking(service)
        await link.heard(Input)
        await link.websocket.close()
        assert await problem_of(waiting) == "outcome-pending"
    await until_recorded(service, command, CommandState.SENT)
    assert there(await found(service, command.id)).ended is None
    async with machine.connected(hello(sequence=5), wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, COMPLETED if knows else NotCarriedOut())
        await machine.until_live()
        known = there(await found(service, command.id, "desk-1"))
    # Its entry in the journal may have been lost with the machine client: nobody can know.
    assert known.state == ("done" if knows else "unknown")
    assert await found(service, command.id, "desk-2") is None
    assert await found(await service.elsewhere(), command.id) is None


async def test_whoever_looks_has_the_machine_asked(service: Service, link: ScriptedLink) -> None:
    command = await kept_as_sent(service, new_key())
    background = service.server.services.background
    looking = background.start(found(service, command.id), "look")
    await link.heard(Resolve)
    await link.report(command.id, NotCarriedOut())
    assert there(await looking).state == "not_carried_out"


async def test_claim_of_another_node_is_resolved_and_never_sent_again(service: Service) -> None:
    async with service.joined() as (_, link):
        command = await kept_as_sent(service, new_key())
        waiting = answering(service, command)
        question = await link.heard(Resolve)
        assert question.command_id == command.id
        await link.report(command.id, NotCarriedOut())
        answer, replayed = await waiting
        assert (answer.status, replayed) == (503, True)
        assert (await recorded(service, command.id)).state is CommandState.NOT_CARRIED_OUT


async def test_command_that_was_sent_stays_pending_while_its_machine_is_away(
    service: Service,
) -> None:
    await service.new_machine()
    command = await kept_as_sent(service, new_key())
    assert await problem_of(answering(service, command)) == "outcome-pending"
    assert (await recorded(service, command.id)).state is CommandState.SENT


async def test_first_final_state_wins_over_a_later_acknowledgement(service: Service) -> None:
    async with service.joined() as (_, link):
        command, waiting = asking(service, new_key())
        heard = await link.heard(Input)
        first = Unknown(injected_at_least=7)
        record = await recorded(service, command.id)
        await ledger_of(service).finish(record, CommandState.UNKNOWN, first, record.accepted_at)
        await link.acknowledge(heard.command_id)
        answer, _ = await waiting
        assert (answer.status, json.loads(answer.body)["injected_at_least"]) == (502, 7)


async def test_other_request_under_the_key_is_refused_while_the_first_runs(
    service: Service, link: ScriptedLink
) -> None:
    key = new_key()
    waiting = answering(service, accepted(service, key))
    heard = await link.heard(Input)
    other = accepted(service, key, body=MoveMouse(x=0, y=0))
    with pytest.raises(InvalidRequestError) as caught:
        await answered(service, other)
    assert caught.value.entries[0].loc == ["header", "Idempotency-Key"]
    await link.acknowledge(heard.command_id)
    assert (await waiting)[0].status == 200
    await link.nothing_heard()


async def test_late_answer_is_kept_for_the_next_who_asks(service: Service) -> None:
    async with service.joined() as (_, link):
        key = new_key()
        waiting = answering(service, accepted(service, key, timeout=0.1, begin_within=10))
        heard = await link.heard(Input)
        assert await problem_of(waiting) == "outcome-pending"
        impatient = answering(service, accepted(service, key, timeout=0.1))
        assert await problem_of(impatient) == "idempotency-key-in-progress"
        patient = answering(service, accepted(service, key))
        await link.acknowledge(heard.command_id)
        answer, replayed = await patient
        assert (answer.status, replayed) == (200, True)
