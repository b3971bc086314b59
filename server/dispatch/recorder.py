"""Records every input in the audit, behind the back of its caller.

What ended waits in a bounded queue and is written some times a second, all together, and then
told to those who listen.  When the queue is full no further inputs are taken, so that none is
carried out that is not recorded; only what ended since the last writing is lost where the process
is killed, and of that the ledger still has what had a key.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Final
from uuid import UUID, uuid5

from schemas.audit import INPUT_FAMILY
from schemas.commands import CommandItem
from schemas.events import CommandTold
from schemas.inputs import Operation
from schemas.outcomes import Completed, Failed, Outcome, Refused
from server.clock import milliseconds, server_time
from server.dispatch.command import Command
from server.dispatch.persistence import always, persistently
from server.events.hub import EventHub
from server.metrics import Metrics
from server.store.audit import PENDING, AuditedInput, AuditEntry, AuditStore
from server.store.commands import CommandRecord
from server.store.errors import StoreError, StoreUnavailable

logger = logging.getLogger(__name__)

CAPACITY: Final = 10_000
GATHER_SECONDS: Final = 0.2
MOST_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class _Noted:
    """An input and how it ended, None while that is pending; the time is milliseconds."""

    command: Command | CommandRecord
    outcome: Outcome | None
    at: int


class InputRecorder:
    """Takes what ended; ``run`` writes it."""

    def __init__(
        self, audit: AuditStore, events: EventHub, metrics: Metrics, *, capacity: int = CAPACITY
    ) -> None:
        self._audit = audit
        self._events = events
        self._metrics = metrics
        self._capacity = capacity
        self._noted: deque[_Noted] = deque()
        self._woken = asyncio.Event()
        self._is_closing = False
        self.lost = 0

    @property
    def waiting(self) -> int:
        """How many are not written yet."""
        return len(self._noted)

    def check_room(self) -> None:
        """Raise StoreUnavailable where no further input could be recorded."""
        if len(self._noted) >= self._capacity:
            raise StoreUnavailable("The audit has not been written for too long.")

    def ended(self, command: Command | CommandRecord, outcome: Outcome) -> None:
        """Note the final outcome of an input."""
        self._noted.append(_Noted(command, outcome, server_time()))
        self._woken.set()
        self._metrics.input_ended(command.operation, outcome.status)

    def left_open(self, command: Command) -> None:
        """Note an input whose outcome is pending."""
        self._noted.append(_Noted(command, None, server_time()))
        self._woken.set()

    def answered(self, command: Command, outcome: Outcome) -> None:
        """Time a command that went all the way."""
        ended, legs = perf_counter(), command.legs
        timed = {
            "wait": legs.sent - (legs.claimed or legs.accepted),
            "finish": ended - legs.acknowledged,
        }
        if legs.claimed:
            timed["claim"] = legs.claimed - legs.accepted
        there_and_back = legs.acknowledged - legs.sent
        if isinstance(outcome, Completed):
            timed["injection"] = outcome.duration_ms / 1000
            there_and_back -= timed["injection"]
        timed["link"] = there_and_back
        self._metrics.input_timed(ended - legs.accepted, timed)

    async def run(self) -> None:
        """Write what is noted, until ``close``."""
        while not self._is_closing or self._noted:
            self._woken.clear()
            if not self._noted:
                await self._woken.wait()
            if not self._is_closing and len(self._noted) < MOST_AT_ONCE:
                # More comes meanwhile; and the inputs go first.
                await asyncio.sleep(GATHER_SECONDS)
            await self._write_some()

    async def close(self, timeout: float, running: "asyncio.Task[None]") -> None:
        """Write what is left, for so many seconds at most; ``running`` is the task of ``run``."""
        self._is_closing = True
        self._woken.set()
        await asyncio.wait((running,), timeout=timeout)
        if self._noted:
            logger.error("%d inputs could not be recorded in the audit", len(self._noted))
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    async def _write_some(self) -> None:
        most = min(MOST_AT_ONCE, len(self._noted))
        entries = [_entry(self._noted[number]) for number in range(most)]
        if not entries:
            return
        try:
            await persistently(lambda: self._audit.add_inputs(entries), is_worthwhile=always)
        except StoreError as error:
            # The database refuses for good, and everything that comes later must not wait for it.
            self.lost += most
            logger.error(  # noqa: TRY400 - what the database refused is all that there is to say
                "%d inputs could not be recorded in the audit: %s", most, error
            )
        # Until it is written it takes its place in the queue.
        for _ in range(most):
            self._noted.popleft()
        for entry in entries:
            self._tell(entry)

    def _tell(self, entry: AuditEntry) -> None:
        item, machine_id = command_item(entry), entry.machine_id
        if item is not None and machine_id is not None:
            told = CommandTold(machine_id=machine_id, **dict(item))
            self._events.publish(entry.organization_id, "command", told, machine_id)


def command_item(entry: AuditEntry) -> CommandItem | None:
    """An entry as a list of commands has it; None where it is about no input."""
    ended = entry.input
    if ended is None:
        return None
    # All of it was checked before it was stored.
    return CommandItem.model_construct(
        command_id=ended.command_id,
        operation=Operation(ended.operation),
        token_name=entry.token_name,
        token_id=entry.token_id,
        accepted_at=entry.created_at,
        completed_at=ended.completed_at,
        outcome=ended.outcome,  # type: ignore[arg-type]
        code=ended.code,
        duration_ms=ended.duration_ms,
    )


def _entry(noted: _Noted) -> AuditEntry:
    command, outcome = noted.command, noted.outcome
    command_id = command.id if isinstance(command, Command) else command.command_id
    accepted_at = command.accepted_at
    if not isinstance(accepted_at, int):
        accepted_at = milliseconds(accepted_at)
    return AuditEntry(
        id=entry_id(command_id, accepted_at),
        organization_id=command.organization_id,
        created_at=_time(accepted_at),
        action=f"{INPUT_FAMILY}.{command.operation}",
        token_id=command.token_id,
        token_name=command.token_name,
        target=str(command_id),
        machine_id=command.machine_id,
        request_id=command.request_id,
        input=AuditedInput(
            command_id=command_id,
            operation=str(command.operation),
            outcome=PENDING if outcome is None else outcome.status,
            code=outcome.code if isinstance(outcome, Failed | Refused) else None,
            duration_ms=outcome.duration_ms if isinstance(outcome, Completed) else None,
            completed_at=None if outcome is None else _time(noted.at),
        ),
    )


def entry_id(command_id: UUID, accepted_at: int) -> UUID:
    """The same for whatever is told of one input; days later its key may bring the same command."""
    return uuid5(command_id, str(accepted_at))


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
