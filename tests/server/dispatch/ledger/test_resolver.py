"""What became of a command that an earlier link sent."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from schemas.http.problems import ProblemError
from schemas.inputs.bodies import MoveMouse
from schemas.inputs.outcomes import Completed, NotCarriedOut, Outcome, Point, Refused, Unknown
from schemas.link.messages import Input, Resolve
from server.dispatch.ledger import ledger as ledger_module
from server.dispatch.ledger.claims import SentOn, new_record
from server.dispatch.ledger.resolver import Resolver, ask
from server.dispatch.ledger.under_way import PendingError
from server.machines.link.commands import KEY_REUSED
from server.machines.link.errors import LinkDownError
from server.store.commands import CommandState
from tests.answers import answer_of
from tests.commands import accepted, answering, asking, keep_sent, kept_as_sent, ledger_of, recorded
from tests.links import hello
from tests.observers import NoObserver
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key, until


async def test_hello_says_nothing_of_what_its_own_link_or_a_newer_one_sent(
    service: Service, link: ScriptedLink
) -> None:
    """A claim whose insert seemed to fail, and a node that woke up with an old link."""
    for epoch in (1, 2):
        command = accepted(service, new_key())
        await keep_sent(service, command, epoch=epoch, journal_sequence=99)
        asking = answering(service, command)
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        assert (await asking)[0].status == 503


async def test_machine_is_asked_whether_its_journal_has_the_mark_of_then(service: Service) -> None:
    """A copy of another branch may have counted up as far; only the journal can tell."""
    machine, mark = await service.new_machine(), uuid4()
    async with machine.connected(mark=mark) as link:
        command, waiting = asking(service, new_key())
        await link.heard(Input)
    with pytest.raises(ProblemError):
        await waiting
    assert (await recorded(service, command.id)).journal_mark == mark
    async with machine.connected(hello(sequence=9), wait_until_live=False, mark=uuid4()) as link:
        question = await link.heard(Resolve)
        assert (question.command_id, question.mark) == (command.id, mark)
        await link.report(command.id, Unknown())
        await machine.until_live()
    assert (await recorded(service, command.id)).state is CommandState.UNKNOWN


async def test_journal_at_the_same_number_can_still_be_asked(service: Service) -> None:
    machine = await service.new_machine()
    command = accepted(service, new_key())
    await keep_sent(service, command, epoch=0, journal_sequence=8)
    async with machine.connected(hello(sequence=8), wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        await machine.until_live()


async def test_lost_link_leaves_the_command_pending(service: Service) -> None:
    async with service.joined() as (machine, link):
        live = await machine.until_live()
        command = accepted(service, new_key())
        record = await keep_sent(service, command)
        resolver = Resolver(ledger_of(service), NoObserver())
        question = await ask(record, live)
        asking = service.server.services.background.start(
            resolver.answered(record, question, live), "ask"
        )
        await link.heard(Resolve)
        await link.websocket.close()
        with pytest.raises(PendingError):
            await asking
        await until(lambda: live.is_over)
        with pytest.raises(LinkDownError):
            await ask(record, live)
    assert (await recorded(service, command.id)).state is CommandState.SENT


async def test_question_about_what_is_on_its_way_without_a_key_ends_with_its_time(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a forwarded command whose sender looks it up while it still waits here."""
    live = await machine.until_live()
    too_late: list[asyncio.Future[Outcome]] = []
    give_up = ledger_module._give_up
    monkeypatch.setattr(ledger_module, "_give_up", too_late.append)
    command, waiting = asking(service, timeout=0.1, begin_within=10)
    await link.heard(Input)
    record = new_record(command, SentOn(live.epoch), CommandState.SENT)
    resolving = service.server.services.background.start(
        Resolver(ledger_of(service), NoObserver()).resolved(record, live), "ask"
    )
    await link.heard(Resolve)
    await until(lambda: too_late)
    give_up(too_late[0])
    with pytest.raises(PendingError):
        await resolving
    with pytest.raises(ProblemError, match="not known yet"):
        await waiting


async def test_resolved_answer_is_the_answer_of_the_first_request(service: Service) -> None:
    machine = await service.new_machine()
    command = await kept_as_sent(service, new_key(), minimal=True, request_id="first")
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, Completed(duration_ms=7, pointer=Point(x=1, y=2)))
        await machine.until_live()
    answer = answer_of(await recorded(service, command.id))
    assert answer is not None
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize(
    ("age", "state"),
    [(6.9, CommandState.NOT_CARRIED_OUT), (7.1, CommandState.UNKNOWN)],
    ids=["in time", "forgotten"],
)
async def test_what_the_journal_may_have_forgotten_is_unknown(
    service: Service, machine: ScriptedMachine, age: float, state: CommandState
) -> None:
    command = accepted(service, new_key())
    await keep_sent(service, command, accepted_at=datetime.now(UTC) - timedelta(days=age))
    async with machine.connected(wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(command.id, NotCarriedOut())
        await machine.until_live()
    assert (await recorded(service, command.id)).state is state


async def test_end_of_another_request_under_the_same_key_is_not_this_ones(
    service: Service,
) -> None:
    """Its owner forgot the record, and another body came under the key before the machine said."""
    key, resolver, ledger = (
        new_key(),
        Resolver(ledger_of(service), NoObserver()),
        ledger_of(service),
    )
    forgotten = await keep_sent(service, accepted(service, key))
    assert await ledger.forget(forgotten.command_id, forgotten.attempt)
    other = accepted(service, key, body=MoveMouse(x=8, y=9))
    standing = await keep_sent(service, other)
    assert standing.command_id == forgotten.command_id
    done = await resolver.finish(standing, Completed(duration_ms=7, pointer=Point(x=8, y=9)))
    with pytest.raises(PendingError):
        await resolver.finish(forgotten, NotCarriedOut())
    assert (await resolver.finish(standing, NotCarriedOut())).outcome == done.outcome


async def test_what_is_said_of_another_request_under_the_same_key_ends_not_this_one(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    """Both are asked about at once, and the machine names no more than the key."""
    key, ledger, live = new_key(), ledger_of(service), await machine.until_live()
    resolver, background = Resolver(ledger, NoObserver()), service.server.services.background
    forgotten = await keep_sent(service, accepted(service, key))
    asking_first = background.start(resolver.resolved(forgotten, live), "ask")
    assert (await link.heard(Resolve)).fingerprint == forgotten.fingerprint
    assert await ledger.forget(forgotten.command_id, forgotten.attempt)
    standing = await keep_sent(service, accepted(service, key, body=MoveMouse(x=8, y=9)))
    asking_second = background.start(resolver.resolved(standing, live), "ask")
    await link.nothing_heard()
    await link.report(standing.command_id, Refused(code=KEY_REUSED, message="another request's"))
    with pytest.raises(PendingError):
        await asking_first
    assert (await link.heard(Resolve)).fingerprint == standing.fingerprint
    done = Completed(duration_ms=7, pointer=Point(x=8, y=9))
    await link.report(standing.command_id, done)
    assert (await asking_second).outcome == done
