"""Whoever got 504 asks for the command, and is told what is known: over HTTP, step by step."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.inputs.outcomes import Expired, Failed, NotCarriedOut, Outcome, Unknown
from schemas.link.messages import Input, Resolve
from schemas.resources.tokens import Scope
from server.dispatch.ledger import ledger as ledger_module
from server.store.commands import CommandState
from tests.commands import accepted, kept_as_sent, until_recorded
from tests.links import COMPLETED, hello
from tests.service import ScriptedLink, ScriptedMachine, Service, new_key, until


def address(command_id: UUID | str) -> str:
    """Where a command is looked up by itself."""
    return f"/v1/commands/{command_id}"


async def left_pending(machine: ScriptedMachine, key: str | None) -> str:
    """Let a command be sent and the link go before its answer; the command's id."""
    async with machine.connected() as link:
        sending = machine.moving(key)
        await link.heard(Input)
        await link.websocket.close()
        reply = await sending
    assert (reply.status, reply.problem) == (504, "outcome-pending")
    await machine.until_gone()
    return str(reply.json["command_id"])


async def view_of(service: Service, command_id: str) -> Any:
    """The command as it is shown: it is known from the moment at which 504 was answered."""
    reply = await service.get(address(command_id))
    assert reply.status == 200
    return reply.json


@pytest.mark.parametrize("keyed", [True, False], ids=["with a key", "without"])
async def test_pending_command_is_sent_until_its_machine_is_back_and_then_done(
    service: Service, machine: ScriptedMachine, keyed: bool
) -> None:
    command_id = await left_pending(machine, new_key() if keyed else None)
    view = await view_of(service, command_id)
    assert (view["state"], view["final"], view["answer"]) == ("sent", False, None)
    async with machine.connected(hello(sequence=1), wait_until_live=False) as link:
        question = await link.heard(Resolve)
        assert str(question.command_id) == command_id
        await link.report(question.command_id, COMPLETED)
        await machine.until_live()
    view = await view_of(service, command_id)
    assert (view["state"], view["final"], view["answer"]["status"]) == ("done", True, 200)
    assert view["answer"]["body"]["command_id"] == command_id


@pytest.mark.parametrize(
    ("outcome", "keyed", "state", "status"),
    [
        (NotCarriedOut(), True, "not_carried_out", 503),
        # The machine client notes it only when it has time, and may have been killed before.
        (NotCarriedOut(), False, "unknown", 502),
        (Unknown(injected_at_least=2), True, "unknown", 502),
        (Expired(), False, "done", 504),
        (Failed(code="x_error", message="gone", injected_at_least=1), False, "done", 502),
    ],
)
async def test_what_the_machine_reports_is_what_is_shown(
    service: Service, outcome: Outcome, keyed: bool, state: str, status: int
) -> None:
    machine = await service.new_machine()
    command_id = await left_pending(machine, new_key() if keyed else None)
    async with machine.connected(hello(sequence=1), wait_until_live=False) as link:
        await link.heard(Resolve)
        await link.report(UUID(command_id), outcome)
        await machine.until_live()
    view = await view_of(service, command_id)
    assert (view["state"], view["final"], view["answer"]["status"]) == (state, True, status)
    assert view["answer"]["body"]["status"] == status


@pytest.mark.usefixtures("no_waiting_for_ends")
async def test_late_acknowledgement_of_an_unkeyed_command_is_found_by_whoever_looks(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    sending = machine.moving()
    command = await link.heard(Input)
    assert (await sending).refusal == (504, "outcome-pending")
    await link.acknowledge(command.command_id, COMPLETED)
    background = service.server.services.background
    looking = background.start(service.get(address(command.command_id)), "a client")
    # Nobody waited for the acknowledgement any more: the machine is asked, and its journal.
    assert (await link.heard(Resolve)).command_id == command.command_id
    await link.report(command.command_id, COMPLETED)
    view = (await looking).json
    assert (view["state"], view["answer"]["status"]) == ("done", 200)
    await link.nothing_heard()


async def test_machine_that_does_not_answer_keeps_nobody_who_looks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "POLL_SECONDS", 0.05)
    async with service.joined() as (_, link):
        command = await kept_as_sent(service, new_key())
        for _ in range(2):
            view = (await service.get(address(command.id))).json
            assert (view["state"], view["final"]) == ("sent", False)
        await link.heard(Resolve)
        await link.nothing_heard()
        await link.report(command.id, NotCarriedOut())
        await until(lambda: not service.server.services.machines.dispatcher._ledger._under_way)
        view = (await service.get(address(command.id))).json
        assert (view["state"], view["final"]) == ("not_carried_out", True)


async def test_command_that_waits_for_its_link_is_claimed(service: Service) -> None:
    machine = await service.new_machine()
    await kept_as_sent(service, new_key())
    async with machine.connected(wait_until_live=False) as link:
        question = await link.heard(Resolve)
        key = new_key()
        sending = machine.moving(key)
        command = accepted(service, key)
        await until_recorded(service, command, CommandState.CLAIMED)
        view = (await service.get(address(command.id))).json
        assert (view["state"], view["final"], view["answer"]) == ("claimed", False, None)
        await link.report(question.command_id, NotCarriedOut())
        await link.obeys(sending)
        view = (await service.get(address(command.id))).json
        assert (view["state"], view["final"]) == ("done", True)


async def test_lost_journal_is_seen_by_whoever_looks(service: Service) -> None:
    machine = await service.new_machine()
    command_id = await left_pending(machine, new_key())
    async with machine.connected(hello(sequence=1, journal_id=uuid4())):
        pass
    view = await view_of(service, command_id)
    assert (view["state"], view["answer"]["body"]["injected_at_least"]) == ("unknown", 0)


async def test_command_without_a_key_that_ended_in_time_is_not_known(service: Service) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving()
        command = await link.obey()
        assert (await sending).status == 200
    assert (await service.get(address(command.command_id))).refusal == (404, "not-found")


async def test_looking_needs_no_more_than_sending_does(service: Service) -> None:
    machine = await service.new_machine()
    command_id = await left_pending(machine, new_key())
    sender = await service.new_token(Scope.INPUT_SEND)
    assert (await service.get(address(command_id), token=sender)).status == 200
    reader = await service.new_token(Scope.MACHINES_READ, Scope.TRAJECTORIES_READ)
    for path in (address(command_id), f"/v1/machines/desk-1/commands/{command_id}"):
        assert (await service.get(path, token=reader)).refusal == (403, "forbidden")
        assert (await service.get(path, token=None)).status == 401
