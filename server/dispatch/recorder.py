"""Records every input in the audit, behind the back of its caller.

What ended waits in a bounded queue and is written some times a second, all together, and then
told to those who listen.  When the queue is full no further inputs are taken, so that none is
carried out that is not recorded; only what ended since the last writing is lost where the process
is killed, and of that the ledger still has what had a key.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, Final, cast
from uuid import UUID

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Completed, Failed, Outcome, Point, Refused, results_of
from schemas.resources.actions import Action
from schemas.resources.audit import INPUT_FAMILY
from schemas.resources.audit import AuditEntry as AuditItem
from schemas.resources.commands import BY_HAND, CommandItem
from schemas.resources.events import CommandEvent
from server.clock import from_milliseconds, milliseconds, server_time
from server.dispatch.action_counts import in_words, inputs_among
from server.dispatch.command import Command, Sender
from server.dispatch.ledger.timings import Timings
from server.errors import StoreUnavailable
from server.events.hub import EventHub
from server.metrics.metrics import Metrics
from server.store.audit import PENDING, AuditedInput, AuditEntry, AuditStore
from server.store.commands import CommandRecord
from server.store.retrying import always, retry

logger = logging.getLogger(__name__)

CAPACITY: Final = 10_000
GATHER_SECONDS: Final = 0.2
MOST_AT_ONCE: Final = 1000


_Noted = tuple[Command | CommandRecord, Outcome | None, int, Point | None] | AuditEntry
"""An input, how it ended (None while that is pending), when, in milliseconds, and where it left the
pointer, as far as that is told; or a stretch of work by hand.
"""

_Timed = tuple[Timings, Outcome, float]
"""A command's timings, how it ended, and when, by their clock."""


class InputRecorder:
    """Takes what ended; ``run`` writes it.

    ``is_private`` says whether somebody has private control of a machine, of an organization: where
    its inputs go is not told then.
    """

    def __init__(
        self, audit: AuditStore, events: EventHub, metrics: Metrics, *, capacity: int = CAPACITY
    ) -> None:
        self._audit = audit
        self._events = events
        self._metrics = metrics
        self._capacity = capacity
        self._noted: deque[_Noted] = deque()
        # What is timed goes with what is noted, and is worth less.
        self._timed: deque[_Timed] = deque(maxlen=capacity)
        self._woken = asyncio.Event()
        self._is_closing = False
        self.is_private: Callable[[UUID, str], bool] = lambda _organization_id, _machine_id: False
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
        self._note(command, outcome)
        self._metrics.input_ended(command.operation, outcome.status)

    def answered_without_end(self, command: Command, how: str) -> None:
        """Count an input whose answer is no new outcome: a problem's name, or "replayed"."""
        self._metrics.input_ended(command.operation, how)

    def left_open(self, command: Command) -> None:
        """Note an input whose outcome is pending."""
        self._note(command, None)

    def worked_by_hand(self, stretch: AuditEntry) -> None:
        """Note a stretch of work by hand, all of its inputs together."""
        self._noted.append(stretch)
        self._woken.set()

    def answered(self, timings: Timings, outcome: Outcome) -> None:
        """Count how long an input took that went all the way; several take as long as they say."""
        if results_of(outcome) is None:
            self._timed.append((timings, outcome, perf_counter()))

    async def run(self) -> None:
        """Write what is noted, until ``close``."""
        while not self._is_closing or self._noted:
            self._woken.clear()
            if not self._noted:
                await self._woken.wait()
            if not self._is_closing and len(self._noted) < MOST_AT_ONCE:
                # More comes meanwhile; and the inputs go first.
                await asyncio.sleep(GATHER_SECONDS)
            self._count_times()
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
        noted = tuple(islice(self._noted, MOST_AT_ONCE))
        if not noted:
            return
        most, entries = len(noted), [_entry(each) for each in noted]
        try:
            await retry(lambda: self._audit.add_inputs(entries), is_worthwhile=always)
        except Exception:  # what comes later must not wait for ever for what cannot be written
            self.lost += most
            logger.exception("%d inputs could not be recorded in the audit", most)
        # Until it is written it takes its place in the queue.
        for _ in range(most):
            self._noted.popleft()
        for entry, each in zip(entries, noted, strict=True):
            told = partial(_command_event, entry, None if isinstance(each, AuditEntry) else each[3])
            self._events.publish(entry.organization_id, "command", told, entry.machine_id)

    def _note(self, command: Command | CommandRecord, outcome: Outcome | None) -> None:
        if isinstance(command, Command):
            if command.sender.in_segment:
                return  # Whoever sent it records it together with others.
            # It may wait for as long as the database is away, among thousands.
            command = command.without_text()
        place = None if outcome is None else self._place_of(command, outcome)
        self._noted.append((command, outcome, server_time(), place))
        self._woken.set()

    def _place_of(self, command: Command | CommandRecord, outcome: Outcome) -> Point | None:
        """Where an input of the mouse left the pointer, as far as others are to know."""
        if not command.operation.startswith("mouse.") or not isinstance(outcome, Completed):
            return None
        is_private = self.is_private(command.organization_id, command.machine_id)
        return None if is_private else outcome.pointer

    def _count_times(self) -> None:
        while self._timed:
            timings, outcome, ended = self._timed.popleft()
            injection = outcome.duration_ms / 1000 if isinstance(outcome, Completed) else None
            self._metrics.input_timed(timings, injection, ended)


def command_item(entry: AuditEntry) -> CommandItem | None:
    """An entry as a list of commands has it; None where it is about no input."""
    # All of it was checked before it was stored.
    return None if entry.input is None else CommandItem.model_construct(**_facts(entry))


def audit_item(entry: AuditEntry) -> AuditItem:
    """An entry as a list of the audit has it."""
    item = command_item(entry)
    return AuditItem(
        id=entry.id.hex(),
        created_at=entry.created_at,
        action=entry.action,
        token_id=entry.token_id,
        token_name=entry.token_name,
        target=entry.target or (item and str(item.command_id)),
        target_name=entry.target_name,
        grant=entry.grant,
        machine_id=entry.machine_id,
        request_id=entry.request_id,
        note=entry.note,
        command=item,
    )


def _command_event(entry: AuditEntry, pointer: Point | None) -> CommandEvent:
    """An entry about an input, as it is told to those who listen."""
    machine_id = entry.machine_id or ""
    return CommandEvent.model_construct(machine_id=machine_id, pointer=pointer, **_facts(entry))


def _facts(entry: AuditEntry) -> dict[str, Any]:
    ended = entry.input
    if ended is None:
        return {}
    family, _, operation = entry.action.partition(".")
    return {
        "command_id": UUID(bytes=entry.id[:16]),
        "operation": Operation(operation) if family == INPUT_FAMILY else BY_HAND,
        "token_name": entry.token_name,
        "token_id": entry.token_id,
        "accepted_at": entry.created_at,
        "completed_at": ended.completed_at,
        "outcome": ended.outcome,
        "code": ended.code,
        "duration_ms": ended.duration_ms,
        "inputs": ended.count,
        "note": entry.note,
    }


def _entry(noted: _Noted) -> AuditEntry:
    if isinstance(noted, AuditEntry):
        return noted
    command, outcome, at, _ = noted
    sender: Sender | CommandRecord
    if isinstance(command, Command):
        command_id, accepted_at = command.id, from_milliseconds(command.accepted_at)
        sender = command.sender
    else:
        command_id, accepted_at = command.command_id, command.accepted_at
        sender = command
    results = results_of(outcome)
    return AuditEntry(
        id=entry_id(command_id, accepted_at),
        organization_id=command.organization_id,
        created_at=accepted_at,
        action=cast("Action", f"{INPUT_FAMILY}.{command.operation}"),
        token_id=sender.token_id,
        token_name=sender.token_name,
        target=None,
        machine_id=command.machine_id,
        request_id=sender.request_id,
        input=AuditedInput(
            outcome=PENDING if outcome is None else outcome.status,
            code=outcome.code if isinstance(outcome, Failed | Refused) else None,
            duration_ms=outcome.duration_ms if isinstance(outcome, Completed) else None,
            completed_at=None if outcome is None else from_milliseconds(at),
            count=1 if results is None else inputs_among(results),
        ),
        note=None if results is None else in_words(results),
    )


def entry_id(command_id: UUID, accepted_at: datetime) -> bytes:
    """The same for whatever is told of one input; days later its key may bring the same command."""
    return command_id.bytes + milliseconds(accepted_at).to_bytes(8)
