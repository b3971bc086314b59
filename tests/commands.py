"""Helpers for tests of what becomes of commands: made by hand, looked up in the real ledger."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.http.problems import ProblemError
from schemas.inputs.bodies import AnyInput, MoveMouse
from server.api.machines import answers
from server.api.machines.answers import Answer
from server.clock import server_time
from server.dispatch.command import Command, Pending, Sender
from server.dispatch.ledger import claims
from server.dispatch.questions.inputs import KnownCommand, LookUp
from server.dispatch.questions.question import Refusal
from server.errors import StoreUnavailable
from server.store.commands import CommandRecord, CommandState, CommandStore
from tests.links import BOOT_ID, JOURNAL_ID
from tests.service import PATIENCE_SECONDS, Service
from tests.store import there

MOVE = MoveMouse(x=3, y=4)


def accepted(
    service: Service,
    key: str | None = None,
    *,
    timeout: float = 60.0,
    begin_within: float | None = None,
    machine_id: str = "desk-1",
    body: AnyInput = MOVE,
    minimal: bool = False,
    **changes: Any,
) -> Command:
    """A command to move the pointer of ``desk-1``, accepted now.

    With ``begin_within`` it may begin for so many seconds only, while its answer is due much later,
    so that a busy host is never late with what the end of that time brings about.  ``changes`` are
    of its sender.
    """
    command = Command.accept(
        sender(service, **changes),
        machine_id,
        body,
        key=key,
        minimal=minimal,
        fingerprints=service.server.services.machines.dispatcher._fingerprints,
        timeout=timeout,
    )
    if begin_within is None:
        return command
    expires_at = server_time() + round(begin_within * 1000)
    return replace(command, expires_at=expires_at)


def answer_within(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have inputs be answered after so long from now on, and begin for as long as before.

    So a busy host is never too late to send what nobody is to acknowledge in time.
    """
    accept = Command.accept

    def accepted_with_haste(*arguments: Any, **named: Any) -> Command:
        command = accept(*arguments, **named)
        return replace(command, answer_by=command.accepted_at + round(seconds * 1000))

    monkeypatch.setattr(Command, "accept", accepted_with_haste)


def sender(service: Service, **changes: Any) -> Sender:
    """Somebody of the service's organization, with a token that is nowhere stored."""
    known = {"token_id": UUID(int=7), "token_name": "a caller", "request_id": "r-1"}
    return Sender(organization_id=service.organization_id, **{**known, **changes})


def ledger_of(service: Service) -> CommandStore:
    """The stored ledger."""
    return CommandStore(service.server.services.operation.database)


async def recorded(service: Service, command_id: UUID) -> CommandRecord:
    """The ledger's record of a command, which must be there."""
    return there(await ledger_of(service).find(command_id))


async def keep_sent(
    service: Service,
    command: Command,
    *,
    journal_id: UUID = JOURNAL_ID,
    journal_sequence: int = 0,
    **changes: Any,
) -> CommandRecord:
    """Put a record into the ledger as a node leaves it that died after it sent the command."""
    record = CommandRecord(
        command_id=command.id,
        organization_id=command.organization_id,
        machine_id=command.machine_id,
        operation=command.operation,
        fingerprint=command.fingerprint,
        state=CommandState.SENT,
        attempt=uuid4(),
        claimed_until=datetime.now(UTC),
        epoch=0,
        boot_id=BOOT_ID,
        journal_id=journal_id,
        journal_sequence=journal_sequence,
        request_id=command.sender.request_id,
        minimal=command.minimal,
        accepted_at=datetime.now(UTC),
        expires_at=datetime.now(UTC),
    )
    record = replace(record, **changes)
    assert await ledger_of(service).claim(record) is record
    return record


async def kept_as_sent(service: Service, key: str | None = None, **options: Any) -> Command:
    """A command, of which the ledger says no more than that it was sent."""
    command = accepted(service, key, **options)
    await keep_sent(service, command)
    return command


def answering(service: Service, command: Command) -> asyncio.Task[tuple[Answer, bool]]:
    """Ask for the command's answer in the background; see `answered`."""
    return service.server.services.background.start(answered(service, command), "a caller")


def asking(
    service: Service, key: str | None = None, **options: Any
) -> tuple[Command, asyncio.Task[tuple[Answer, bool]]]:
    """A command, whose answer is asked for in the background."""
    command = accepted(service, key, **options)
    return command, answering(service, command)


async def answered(service: Service, command: Command) -> tuple[Answer, bool]:
    """What HTTP answers to a command, and whether it was answered before; else its problem."""
    reply = await service.server.services.machines.dispatcher.ask(command)
    if isinstance(reply, Refusal | Pending):
        raise answers.problem_of(reply)
    return answers.answer_to(reply), reply.is_replayed


async def found(
    service: Service, command_id: UUID, machine_id: str | None = None
) -> KnownCommand | None:
    """What is said to somebody who looks a command up."""
    organization_id = service.organization_id
    asked = LookUp(organization_id=organization_id, command_id=command_id, machine_id=machine_id)
    known = await service.server.services.machines.dispatcher.ask(asked)
    assert not isinstance(known, Refusal)
    return known


async def problem_of(waiting: asyncio.Task[tuple[Answer, bool]]) -> str:
    """The name of the problem that the answer is."""
    with pytest.raises(ProblemError) as caught:
        await waiting
    return caught.value.problem_type.name


async def until_recorded(service: Service, command: Command, state: CommandState) -> None:
    """Wait until the ledger says so of a command."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            record = await ledger_of(service).find(command.id)
            if record is not None and record.state is state:
                return
            await asyncio.sleep(0.01)


def is_late_after(monkeypatch: pytest.MonkeyPatch, failing: "Failing", times: int) -> None:
    """Have the time in which an input may begin be over once its operation failed so often."""
    monkeypatch.setattr(claims, "has_time", lambda _: failing.failures < times)


class Failing:
    """Lets an operation of the ledger fail as a database does that loses its primary.

    It fails so many ``times``, each time before it is carried out or, where it ``happens``, after;
    ``failures`` counts them.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, name: str, times: int, *, happens: bool
    ) -> None:
        real = getattr(CommandStore, name)
        self.failures = 0

        async def operation(*arguments: Any) -> Any:
            if self.failures == times:
                return await real(*arguments)
            self.failures += 1
            if happens:
                await real(*arguments)
            raise StoreUnavailable("The database did not answer in time.")

        monkeypatch.setattr(CommandStore, name, operation)
