"""Helpers for tests of what becomes of commands: made by hand, looked up in the real ledger."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from schemas.inputs import AnyInput, MoveMouse
from server.dispatch.command import Command
from server.store.commands import CommandRecord, CommandState, CommandStore
from tests.links import BOOT_ID, JOURNAL_ID
from tests.service import Service
from tests.store import there


def accepted(
    service: Service, key: str | None = None, *, timeout: float = 10.0, **changes: Any
) -> Command:
    """A command to move the pointer of ``desk-1``, accepted now."""
    body: AnyInput = changes.pop("body", MoveMouse(x=3, y=4))
    fields: dict[str, Any] = {"machine_id": "desk-1", "request_id": "r-1", "minimal": False}
    return Command.accept(
        organization_id=service.organization_id,
        body=body,
        key=key,
        timeout=timeout,
        **{**fields, **changes},
    )


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
        lease_until=datetime.now(UTC),
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
