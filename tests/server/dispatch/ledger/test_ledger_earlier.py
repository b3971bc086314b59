"""Retries, after an upgrade, of what an older Farhand recorded in its own way."""

import pytest

from schemas.inputs.bodies import MoveMouse
from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.messages import Input, Resolve
from server.dispatch.fingerprints import Fingerprints
from server.store.commands import Answer, CommandRecord, CommandState
from server.store.times import now
from tests.commands import accepted, keep_sent, ledger_of, until_recorded
from tests.links import COMPLETED, hello
from tests.service import ScriptedMachine, Service, new_key
from tests.store import there

SPELLINGS = pytest.mark.parametrize("spelling", ['"{}"', "{}"], ids=["quoted", "bare"])
"""How the key is sent after the upgrade."""

KEPT = Answer(200, "application/json", b'{"status":"kept"}')


@pytest.fixture(autouse=True)
def upgraded(service: Service) -> None:
    """Have the server know that records of an older one may live."""
    service.server.services.dispatcher._fingerprints = Fingerprints(b"of today", knows_earlier=True)


async def kept(
    service: Service,
    key: str,
    state: CommandState = CommandState.SENT,
    *,
    quoted: bool = True,
    x: int = 3,
    answer: Answer = KEPT,
) -> CommandRecord:
    """A record of the older Farhand, of a request whose key was quoted, or was not."""
    command = accepted(service, key, body=MoveMouse(x=x, y=4))
    earlier = there(command.earlier)
    command_id = earlier.command_id if quoted else command.id
    is_final = state is CommandState.DONE
    record = await keep_sent(
        service,
        command,
        command_id=command_id,
        fingerprint=earlier.fingerprint,
        state=CommandState.SENT if is_final else state,
    )
    if is_final:
        await ledger_of(service).finish(record, state, answer, now())
    return record


async def input_for(service: Service, machine: ScriptedMachine, key: str) -> Input:
    """What the machine hears of a request that no record is known of."""
    async with machine.connected() as link:
        sending = machine.moving(key)
        command = await link.obey()
        assert (await sending).status == 200
        return command


@SPELLINGS
@pytest.mark.parametrize("quoted", [True, False])
@pytest.mark.parametrize("is_connected", [True, False])
@pytest.mark.gen_test
async def test_final_answer_of_before_is_given_again(
    service: Service, spelling: str, quoted: bool, is_connected: bool
) -> None:
    machine, key = await service.new_machine(), new_key()
    await kept(service, key, CommandState.DONE, quoted=quoted)
    if is_connected:
        async with machine.connected() as link:
            reply = await machine.move(spelling.format(key))
            await link.nothing_heard()
    else:
        reply = await machine.move(spelling.format(key))
    assert (reply.status, reply.body) == (200, KEPT.body)
    assert reply.headers["Idempotency-Replayed"] == "true"


@SPELLINGS
@pytest.mark.parametrize("state", [CommandState.SENT, CommandState.CLAIMED])
@pytest.mark.gen_test
async def test_what_was_left_open_is_resolved_under_its_own_id(
    service: Service, spelling: str, state: CommandState
) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        # Of this link's epoch, so that it was not settled when the machine connected.
        record = await kept(service, key, state)
        sending = machine.moving(spelling.format(key))
        asked = await link.heard(Resolve)
        assert asked.command_id == record.command_id
        await link.report(asked.command_id, NotCarriedOut())
        assert (await sending).problem == "not-carried-out"
        again = await machine.move(key)
        assert again.problem == "not-carried-out"
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_key_of_before_is_refused_for_another_request(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    await kept(service, key, CommandState.DONE)
    async with machine.connected() as link:
        reply = await machine.move(key, x=99)
        assert reply.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
        await link.nothing_heard()


@pytest.mark.gen_test
async def test_two_keys_of_before_that_are_one_today_keep_their_answers(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    bare = Answer(200, "application/json", b'{"status":"of the bare one"}')
    await kept(service, key, CommandState.DONE)
    await kept(service, key, CommandState.DONE, quoted=False, x=5, answer=bare)
    async with machine.connected():
        for spelling in (key, f'"{key}"'):
            assert (await machine.move(spelling)).body == KEPT.body
            assert (await machine.move(spelling, x=5)).body == bare.body


@SPELLINGS
@pytest.mark.gen_test
async def test_machine_is_told_how_its_journal_may_know_the_command(
    service: Service, spelling: str
) -> None:
    machine, key = await service.new_machine(), new_key()
    heard = await input_for(service, machine, spelling.format(key))
    command = accepted(service, key)
    assert (heard.command_id, heard.fingerprint) == (command.id, command.fingerprint)
    assert heard.earlier == command.earlier
    assert heard.earlier is not None


@pytest.mark.parametrize("is_settling", [True, False], ids=["claimed first", "sent at once"])
@pytest.mark.gen_test
async def test_machine_that_is_asked_is_told_it_too(service: Service, is_settling: bool) -> None:
    """Only the journal's entry of before may know the end, if the machine died before the copy."""
    machine, key = await service.new_machine(), new_key()
    open_before = accepted(service, new_key())
    if is_settling:
        await keep_sent(service, open_before)
    async with machine.connected(wait_until_live=not is_settling) as link:
        if is_settling:
            await link.heard(Resolve)
        sending = machine.moving(key)
        if is_settling:
            await until_recorded(service, accepted(service, key), CommandState.CLAIMED)
            await link.report(open_before.id, NotCarriedOut())
        sent = await link.heard(Input)
    assert (await sending).problem == "outcome-pending"
    async with machine.connected(hello(sequence=9), wait_until_live=False) as link:
        asked = await link.heard(Resolve)
        assert asked.command_id == sent.command_id
        assert (asked.fingerprint, asked.earlier) == (sent.fingerprint, there(sent.earlier))
        await link.report(asked.command_id, COMPLETED)
        assert (await machine.move(key)).status == 200


@pytest.mark.gen_test
async def test_where_nothing_of_before_can_live_nothing_is_said_of_it(service: Service) -> None:
    service.server.services.dispatcher._fingerprints = Fingerprints(b"of today")
    machine = await service.new_machine()
    assert (await input_for(service, machine, new_key())).earlier is None
