"""The ledger while its database does not answer, at each operation; the database itself is real.

Whether the operation happened before it seemed to fail is tried both ways: nobody can tell.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta

import pytest

from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.close_codes import CloseCode
from schemas.link.messages import SERVER_MESSAGES, Heartbeat, Input, Ready, Resolve, Welcome
from server.dispatch.ledger import claims, under_way
from server.errors import StoreUnavailable
from server.store import retrying as persistence
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.machines.machines import MachineStore
from tests.commands import (
    Failing,
    accepted,
    answering,
    asking,
    is_late_after,
    keep_sent,
    kept_as_sent,
    ledger_of,
    problem_of,
    recorded,
    until_recorded,
)
from tests.links import COMPLETED, hello
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key, until

either_way = pytest.mark.parametrize("happens", [True, False], ids=["happened", "did not happen"])

FOR_GOOD = 1000
"""More often than anybody tries within a test."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "FIRST_DELAY", 0.005)
    monkeypatch.setattr(persistence, "LONGEST_DELAY", 0.01)


@either_way
async def test_claim_that_seems_not_to_be_marked_as_sent_is_marked_and_sent_once(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch, happens: bool
) -> None:
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        question = await link.heard(Resolve)
        failing = Failing(monkeypatch, "mark_sent", 3, happens=happens)
        command, waiting = asking(service, new_key())
        await until_recorded(service, command, CommandState.CLAIMED)
        await link.report(question.command_id, NotCarriedOut())
        assert (await link.obey()).command_id == command.id
        assert ((await waiting)[0].status, failing.failures) == (200, 3)
        await link.nothing_heard()


@either_way
async def test_claim_that_cannot_be_marked_as_sent_is_not_sent_and_told_truly_later(
    service: Service, monkeypatch: pytest.MonkeyPatch, happens: bool
) -> None:
    monkeypatch.setattr(claims, "CLAIM_LIFETIME", timedelta(seconds=0.1))
    machine, key = await service.new_machine(), new_key()
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        question = await link.heard(Resolve)
        with monkeypatch.context() as patch:
            is_late_after(patch, Failing(patch, "mark_sent", FOR_GOOD, happens=happens), 5)
            waiting = answering(service, accepted(service, key))
            await link.report(question.command_id, NotCarriedOut())
            with pytest.raises(StoreUnavailable):
                await waiting
            await link.nothing_heard()
        again = answering(service, accepted(service, key))
        if happens:
            # It says SENT, so it is never sent: it never arrived, and now never will.
            question = await link.heard(Resolve)
            await link.report(question.command_id, NotCarriedOut())
            assert (await again)[0].status == 503
        else:
            await link.obey()
            assert (await again)[0].status == 200
        await link.nothing_heard()


@either_way
async def test_take_over_that_seems_to_fail_is_tried_again_and_the_input_sent_once(
    service: Service, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch, happens: bool
) -> None:
    command = accepted(service, new_key())
    over = datetime.now(UTC) - timedelta(seconds=1)
    await keep_sent(service, command, state=CommandState.CLAIMED, claimed_until=over)
    failing = Failing(monkeypatch, "take_over", 3, happens=happens)
    waiting = answering(service, command)
    await link.obey()
    assert ((await waiting)[0].status, failing.failures) == (200, 3)
    await link.nothing_heard()


async def test_claim_that_did_not_happen_leaves_its_key_free(
    service: Service, link: ScriptedLink, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        is_late_after(patch, Failing(patch, "claim", FOR_GOOD, happens=False), 5)
        with pytest.raises(StoreUnavailable):
            await answering(service, accepted(service, key))
    await link.nothing_heard()
    again = answering(service, accepted(service, key))
    await link.obey()
    assert (await again)[1] is False


async def test_key_that_cannot_be_set_free_is_told_truly_at_the_next_connect(
    service: Service, machine: ScriptedMachine, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link goes between SENT and the sending, and so does the database."""
    claim = CommandStore.claim
    async with machine.connected() as link:
        live = await machine.until_live()

        async def claim_then_lose_the_link(
            store: CommandStore, record: CommandRecord
        ) -> CommandRecord:
            claimed = await claim(store, record)
            live.close(CloseCode.SERVER_STOPPING, "in the midst of it")
            return claimed

        with monkeypatch.context() as patch:
            patch.setattr(CommandStore, "claim", claim_then_lose_the_link)
            Failing(patch, "forget", FOR_GOOD, happens=False)
            with pytest.raises(StoreUnavailable):
                await answering(service, accepted(service, key))
        await link.closed()
    await machine.until_gone()
    async with machine.connected(hello(sequence=1), wait_until_live=False) as link:
        question = await link.heard(Resolve)
        await link.report(question.command_id, NotCarriedOut())
        await machine.until_live()
        assert (await answering(service, accepted(service, key)))[0].status == 503
        await link.nothing_heard()


@pytest.mark.parametrize("name", ["unresolved", "finish"])
@either_way
async def test_journal_is_marked_only_when_what_it_has_lost_is_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch, name: str, happens: bool
) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command, journal_sequence=8)
    failing = Failing(monkeypatch, name, 3, happens=happens)
    async with machine.open_websocket() as websocket:
        link = ScriptedLink(websocket, 7)
        await link.say(hello(sequence=7))
        await link.heard(Welcome)
        await link.say(Ready())
        first = SERVER_MESSAGES.validate_json(await websocket.recv())
        assert isinstance(first, Heartbeat)
        assert failing.failures == 3
        assert (await recorded(service, command.id)).state is CommandState.UNKNOWN


@either_way
async def test_nothing_new_is_sent_before_what_was_reported_is_stored(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch, happens: bool
) -> None:
    open_command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        with monkeypatch.context() as patch:
            failing = Failing(patch, "finish", FOR_GOOD, happens=happens)
            await link.report(open_command.id, COMPLETED)
            await until(lambda: failing.failures > 0)
            sending = [machine.moving(new_key()), machine.moving()]
            await link.nothing_heard()
            assert not (await machine.until_up()).is_live
        for _ in sending:
            await link.obey()
        assert [(await each).status for each in sending] == [200, 200]
        assert (await recorded(service, open_command.id)).state is CommandState.DONE


async def test_link_is_not_settled_while_what_is_open_cannot_be_read(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = await kept_as_sent(service, new_key())
    real = CommandStore.unresolved
    answers = False
    tries = 0

    async def unresolved(
        store: CommandStore, organization_id: object, machine_id: str, epoch: int
    ) -> list[CommandRecord]:
        nonlocal tries
        tries += 1
        # The first look is the one before the journal is marked.
        if tries > 1 and not answers:
            raise StoreUnavailable("The database did not answer in time.")
        return await real(store, service.organization_id, machine_id, epoch)

    monkeypatch.setattr(CommandStore, "unresolved", unresolved)
    async with machine.connected(wait_until_live=False) as link:
        sending = machine.moving(new_key())
        await until(lambda: tries > 2)
        await link.nothing_heard()
        answers = True
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        await link.obeys(sending)


async def test_link_that_is_over_is_not_settled_for_ever(
    machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def unresolved(*_: object) -> list[CommandRecord]:
        nonlocal tries
        tries += 1
        raise StoreUnavailable("The database did not answer in time.")

    monkeypatch.setattr(CommandStore, "unresolved", unresolved)
    async with machine.opened(hello()) as link:
        await link.heard(Welcome)
        await link.say(Ready())
        await until(lambda: tries > 1)
    await machine.until_closed()
    await until(lambda: not any("admit" in task.get_name() for task in asyncio.all_tasks()))


async def test_whoever_cannot_be_told_of_an_offline_machine_is_told_to_come_back(
    machine: ScriptedMachine, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Failing(monkeypatch, "find", FOR_GOOD, happens=False)
    assert (await machine.move(key)).refusal == (503, "storage-unavailable")


async def test_machine_whose_greeting_cannot_be_stored_is_sent_away_to_come_back(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def begin_link(*_: object) -> None:
        raise StoreUnavailable("The database did not answer in time.")

    machine = await service.new_machine()
    with monkeypatch.context() as patch:
        patch.setattr(MachineStore, "begin_link", begin_link)
        async with machine.opened(hello()) as link:
            code, reason = await link.closed()
            assert code == CloseCode.SERVER_ERROR
            assert "database" in reason
            assert not CloseCode(code).says_stop
    async with machine.connected() as link:
        await link.obeys(machine.moving())


async def test_pending_command_without_a_key_is_kept_once_the_database_answers(
    service: Service, machine: ScriptedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, "claim", 3, happens=True)
    async with machine.connected() as link:
        command, waiting = asking(service)
        await link.heard(Input)
        await link.websocket.close()
        assert await problem_of(waiting) == "outcome-pending"
    await until(lambda: failing.failures == 3)
    await until_recorded(service, command, CommandState.SENT)
    assert not (await recorded(service, command.id)).is_keyed
    assert await ledger_of(service).unresolved(service.organization_id, "desk-1", 2)


@pytest.mark.parametrize("gives_up", [True, False], ids=["nobody waits", "somebody waits"])
async def test_mistake_of_ours_is_logged_with_the_command_and_without_its_text(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    gives_up: bool,
) -> None:
    fail = asyncio.Event()

    async def fail_later(_: CommandStore, record: CommandRecord) -> CommandRecord:
        await fail.wait()
        raise RuntimeError(f"cannot type hunter2 for {record.command_id}")

    monkeypatch.setattr(CommandStore, "claim", fail_later)
    machine = await service.new_machine()
    command = accepted(service, new_key(), timeout=0.1 if gives_up else 10.0)
    async with machine.connected():
        waiting = answering(service, command)
        if gives_up:
            assert await problem_of(waiting) == "outcome-pending"
        fail.set()
        if not gives_up:
            with pytest.raises(RuntimeError):
                await waiting
        await until(lambda: f"command={command.id} failed: error=RuntimeError at" in caplog.text)
    (mistake,) = [record for record in caplog.records if record.name == under_way.__name__]
    assert mistake.levelno == logging.ERROR
    assert "in fail_later" in mistake.getMessage()
    assert "hunter2" not in mistake.getMessage()


async def test_what_may_be_asked_for_again_is_no_mistake(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine, command = await service.new_machine(), accepted(service, new_key())
    async with machine.connected():
        failing = Failing(monkeypatch, "claim", FOR_GOOD, happens=False)
        is_late_after(monkeypatch, failing, 5)
        with pytest.raises(StoreUnavailable):
            await answering(service, command)
    assert [each for each in caplog.records if each.name == under_way.__name__] == []
