"""Several nodes on one ledger: races, a claimer that was too slow, and the words of the dead.

A second node is a second server on the same database.  As no bus tells it of the first one's link,
a machine that came back to it leaves a half-open link behind, and both nodes take inputs for it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from schemas.http.problems import InvalidRequestError
from schemas.inputs.bodies import MoveMouse
from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.messages import Input, Resolve
from server.store.commands import CommandRecord, CommandState, CommandStore
from tests.answers import answer_of
from tests.commands import (
    accepted,
    answering,
    asking,
    found,
    keep_sent,
    kept_as_sent,
    ledger_of,
    problem_of,
    recorded,
    until_recorded,
)
from tests.links import COMPLETED, hello
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key, running_server
from tests.store import there


@asynccontextmanager
async def second_node(service: Service, mongodb: str, tmp_path: Path) -> AsyncIterator[Service]:
    """Another server for the same organization."""
    async with running_server(mongodb, tmp_path / "second") as server:
        yield Service(server, service.organization_id, service.token)


@asynccontextmanager
async def linked_to_both(
    service: Service, other: Service, **greeting: Any
) -> AsyncIterator[tuple[ScriptedLink, ScriptedLink]]:
    """A machine's half-open link to the first node, and its newest to the other."""
    machine = await service.new_machine()
    said = hello(**{"sequence": 1, **greeting})
    again = ScriptedMachine(other, machine.machine_id, machine.token)
    async with machine.connected() as older, again.connected(said) as newer:
        yield older, newer


def race(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let two nodes begin an operation of the ledger at once."""
    real, both = getattr(CommandStore, name), asyncio.Barrier(2)
    begun = 0

    async def operation(*arguments: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun <= 2:
            await both.wait()
        return await real(*arguments)

    monkeypatch.setattr(CommandStore, name, operation)


async def obey(links: tuple[ScriptedLink, ScriptedLink]) -> list[type]:
    """Complete the input that one of the links hears; the other is asked what became of it."""
    heard = await asyncio.gather(*(link.next_message() for link in links))
    for link, message in zip(links, heard, strict=True):
        if isinstance(message, Input):
            await link.acknowledge(message.command_id, COMPLETED)
        else:
            assert isinstance(message, Resolve)
            await link.report(message.command_id, COMPLETED)
    return sorted((type(message) for message in heard), key=lambda each: each.__name__)


@pytest.mark.parametrize("step", ["claim", "take_over"])
async def test_of_two_nodes_that_claim_at_once_one_sends(
    service: Service, mongodb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async with (
        second_node(service, mongodb, tmp_path) as other,
        linked_to_both(service, other) as links,
    ):
        command = accepted(service, new_key())
        if step == "take_over":
            over = datetime.now(UTC) - timedelta(seconds=1)
            await keep_sent(service, command, state=CommandState.CLAIMED, claimed_until=over)
        race(monkeypatch, step)
        asked = [answering(node, command) for node in (service, other)]
        assert await obey(links) == [Input, Resolve]
        (one, _), (two, _) = await asyncio.gather(*asked)
        assert one == two == answer_of(await recorded(service, command.id))
        assert one.status == 200
        for link in links:
            await link.nothing_heard()


async def test_abandoned_claim_is_taken_over_by_the_same_request_alone(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    command = accepted(service, key)
    await keep_sent(service, command, state=CommandState.CLAIMED)
    async with machine.connected() as link:
        other = answering(service, accepted(service, key, body=MoveMouse(x=5, y=6)))
        with pytest.raises(InvalidRequestError):
            await other
        await link.nothing_heard()
        assert (await recorded(service, command.id)).fingerprint == command.fingerprint
        waiting = answering(service, command)
        await link.obey()
        assert (await waiting)[0].status == 200


async def test_looking_asks_the_machine_nothing_about_what_is_under_way(service: Service) -> None:
    async with service.joined() as (_, link):
        command, waiting = asking(service, new_key())
        await link.heard(Input)
        assert there(await found(service, command.id)).ended is None
        await link.nothing_heard()
        await link.acknowledge(command.id)
        assert (await waiting)[0].status == 200
        assert there(await found(service, command.id)).ended is not None
        await link.nothing_heard()


async def test_claimer_that_was_overtaken_sends_nothing(service: Service) -> None:
    machine = await service.new_machine()
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        question = await link.heard(Resolve)
        command, waiting = asking(service, new_key())
        await until_recorded(service, command, CommandState.CLAIMED)
        claim = await recorded(service, command.id)
        # Its claim is over before the link is settled, and another node was faster.
        taken = replace(claim, attempt=uuid4(), state=CommandState.SENT, epoch=claim.epoch + 1)
        assert await ledger_of(service).take_over(claim, taken)
        await link.report(question.command_id, NotCarriedOut())
        # It asks what became of what the other has sent.
        assert (await link.heard(Resolve)).command_id == command.id
        await link.report(command.id, COMPLETED)
        assert (await waiting)[0].status == 200
        await link.nothing_heard()


async def test_claimer_that_was_overtaken_while_the_new_one_waits_is_told_to_come_back(
    service: Service, machine: ScriptedMachine
) -> None:
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        question = await link.heard(Resolve)
        command, waiting = asking(service, new_key())
        await until_recorded(service, command, CommandState.CLAIMED)
        claim = await recorded(service, command.id)
        taken = replace(claim, attempt=uuid4())
        assert await ledger_of(service).take_over(claim, taken)
        await link.report(question.command_id, NotCarriedOut())
        assert await problem_of(waiting) == "idempotency-key-in-progress"
        assert await recorded(service, command.id) == taken
        await link.nothing_heard()


async def test_claim_that_another_node_still_holds_is_waited_for(service: Service) -> None:
    """The other node sends it and gets its answer, which is then everybody's."""
    async with service.joined() as (_, link):
        command = accepted(service, new_key())
        held = await keep_sent(
            service,
            command,
            state=CommandState.CLAIMED,
            claimed_until=datetime.now(UTC) + timedelta(seconds=60),
        )
        waiting = answering(service, command)
        await link.nothing_heard()
        sent = replace(held, state=CommandState.SENT)
        assert await ledger_of(service).mark_sent(sent)
        assert (await link.heard(Resolve)).command_id == command.id
        await link.report(command.id, COMPLETED)
        assert (await waiting)[0].status == 200
        await link.nothing_heard()


async def test_caller_joins_the_settling_of_its_command(service: Service) -> None:
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        waiting = answering(service, command)
        await link.nothing_heard()
        await link.report(command.id, COMPLETED)
        answer, replayed = await waiting
        assert (answer.status, replayed) == (200, True)
        await link.nothing_heard()


async def test_dead_nodes_claim_is_not_asked_about_and_keeps_no_link_from_settling(
    service: Service, machine: ScriptedMachine
) -> None:
    command = accepted(service, new_key())
    await keep_sent(service, command, state=CommandState.CLAIMED)
    async with machine.connected() as link:
        await link.nothing_heard()
        assert (await recorded(service, command.id)).state is CommandState.CLAIMED


async def test_late_word_of_a_node_that_slept_changes_no_final_answer(
    service: Service, mongodb: str, tmp_path: Path
) -> None:
    """It sent the command and slept; meanwhile the machine told another node that it never ran."""
    async with (
        second_node(service, mongodb, tmp_path) as other,
        linked_to_both(service, other) as (older, newer),
    ):
        command, slept = asking(service, new_key())
        await older.heard(Input)
        awake = answering(other, command)
        await newer.heard(Resolve)
        await newer.report(command.id, NotCarriedOut())
        first, _ = await awake
        assert first.status == 503
        await older.acknowledge(command.id, COMPLETED)
        assert (await slept)[0] == first == answer_of(await recorded(service, command.id))


async def test_what_an_older_link_sent_is_unknown_where_the_newest_has_another_journal(
    service: Service, mongodb: str, tmp_path: Path
) -> None:
    """It was recorded after the newest link had judged what it had found."""
    async with (
        second_node(service, mongodb, tmp_path) as other,
        linked_to_both(service, other, journal_id=uuid4()) as (older, newer),
    ):
        command, sending = asking(service, new_key())
        await older.heard(Input)
        answer, _ = await answering(other, command)
        assert answer.status == 502
        await newer.nothing_heard()
        await older.acknowledge(command.id, COMPLETED)
        assert (await sending)[0] == answer


async def test_record_that_its_owner_forgets_meanwhile_is_pending_and_its_key_free(
    service: Service, link: ScriptedLink
) -> None:
    """The owner knows that nothing left, while another node has the machine asked."""
    key = new_key()
    command = accepted(service, key)
    record: CommandRecord = await keep_sent(service, command)
    waiting = answering(service, command)
    await link.heard(Resolve)
    assert await ledger_of(service).forget(command.id, record.attempt)
    await link.report(command.id, NotCarriedOut())
    assert await problem_of(waiting) == "outcome-pending"
    again = answering(service, accepted(service, key))
    await link.obey(NotCarriedOut())
    assert (await again)[0].status == 503
