"""Helpers for tests of what becomes of commands: made by hand, looked up in the real ledger."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.http.problems import ProblemError
from schemas.inputs.bodies import AnyInput, MoveMouse
from server.clock import server_time
from server.dispatch.command import Command
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from server.store.errors import StoreUnavailable
from tests.links import BOOT_ID, JOURNAL_ID
from tests.service import Service
from tests.store import there


def accepted(
    service: Service,
    key: str | None = None,
    *,
    timeout: float = 10.0,
    begin_within: float | None = None,
    **changes: Any,
) -> Command:
    """A command to move the pointer of ``desk-1``, accepted now.

    With ``begin_within`` it may begin for so many seconds only, while its answer is due much later,
    so that a busy host is never late with what the end of that time brings about.
    """
    body: AnyInput = changes.pop("body", MoveMouse(x=3, y=4))
    fields: dict[str, Any] = {"machine_id": "desk-1", "request_id": "r-1", "minimal": False}
    command = Command.accept(
        organization_id=service.organization_id,
        body=body,
        key=key,
        fingerprints=service.server.services.dispatcher._fingerprints,
        timeout=timeout,
        **{**fields, **changes},
    )
    if begin_within is None:
        return command
    return replace(command, expires_at=server_time() + round(begin_within * 1000))


def ledger_of(service: Service) -> CommandStore:
    """The stored ledger."""
    return CommandStore(service.server.services.database)


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
        request_id=command.request_id,
        minimal=command.minimal,
        accepted_at=datetime.now(UTC),
        expires_at=datetime.now(UTC),
    )
    record = replace(record, **changes)
    assert await ledger_of(service).claim(record) is record
    return record


def answering(service: Service, command: Command) -> asyncio.Task[tuple[Answer, bool]]:
    """Ask for the command's answer in the background."""
    services = service.server.services
    return services.background.start(services.dispatcher.carry_out(command), "a caller of the test")


async def problem_of(waiting: asyncio.Task[tuple[Answer, bool]]) -> str:
    """The name of the problem that the answer is."""
    with pytest.raises(ProblemError) as caught:
        await waiting
    return caught.value.problem_type.name


async def until_recorded(service: Service, command: Command, state: CommandState) -> None:
    """Wait until the ledger says so of a command."""
    async with asyncio.timeout(10):
        while True:
            record = await ledger_of(service).find(command.id)
            if record is not None and record.state is state:
                return
            await asyncio.sleep(0.01)


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
