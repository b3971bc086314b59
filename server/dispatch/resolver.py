"""Makes outcomes final: those that come by themselves and those that must be asked for."""

import asyncio
import logging
from datetime import UTC, datetime

from schemas.inputs import Operation
from schemas.outcomes import NotCarriedOut, Outcome, Unknown
from schemas.problems import ProblemError
from schemas.wire import JournalPosition
from server.clock import milliseconds
from server.dispatch.answers import Subject, final_answer
from server.dispatch.command import Command
from server.dispatch.dispatcher import pending
from server.machines.errors import LinkDownError, LinkLostError
from server.machines.socket import LinkSocket
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from server.store.errors import StoreUnavailable

logger = logging.getLogger(__name__)

RESOLVE_SECONDS = 10.0


class Resolver:
    """Settles records that say SENT, with what the machine or its journal says."""

    def __init__(self, commands: CommandStore) -> None:
        self._commands = commands

    async def resolve(self, record: CommandRecord, link: LinkSocket) -> Answer:
        """Ask the machine's journal what became of a command, and make that final."""
        if _journal_is_another(record, link.hello.journal):
            return await self.finish(record, Unknown())
        try:
            # Others may wait for the same report; giving up on it must not take it from them.
            outcome = await asyncio.shield(link.resolve(record.command_id))
        except (LinkDownError, LinkLostError):
            raise pending(record.command_id) from None
        return await self.finish(record, outcome)

    async def reconcile(self, link: LinkSocket, journal: JournalPosition) -> None:
        """Resolve everything that earlier links of a machine left open, before anything new."""
        records = await self._commands.unresolved(link.organization_id, link.machine_id)
        for record in records:
            try:
                async with asyncio.timeout(RESOLVE_SECONDS):
                    await self.resolve(record, link)
            except (ProblemError, TimeoutError, StoreUnavailable):
                logger.warning(
                    "command=%s of machine %s stays unresolved", record.command_id, link.machine_id
                )

    async def finish(self, record: CommandRecord, outcome: Outcome) -> Answer:
        """Store the final answer, then give it: what is stored first is what everybody gets."""
        answer = final_answer(subject_of(record), outcome)
        state = CommandState.DONE
        if isinstance(outcome, NotCarriedOut):
            state = CommandState.NOT_CARRIED_OUT
        elif isinstance(outcome, Unknown):
            state = CommandState.UNKNOWN
        try:
            if await self._commands.finish(
                record.command_id, state, answer, datetime.now(UTC), attempt=record.attempt
            ):
                return answer
            first = await self._commands.find(record.command_id)
        except StoreUnavailable:
            logger.warning("command=%s ended but could not be recorded", record.command_id)
            raise pending(record.command_id) from None
        if first is None or first.answer is None:
            raise pending(record.command_id)
        return first.answer


def subject_of(command: Command | CommandRecord) -> Subject:
    """What an answer needs of a command, on its way or recorded."""
    if isinstance(command, Command):
        command_id, accepted_at = command.id, command.accepted_at
    else:
        command_id = command.command_id
        accepted_at = milliseconds(command.accepted_at)
    return Subject(
        command_id=command_id,
        machine_id=command.machine_id,
        operation=Operation(command.operation),
        accepted_at=accepted_at,
        request_id=command.request_id,
        minimal=command.minimal,
    )


def _journal_is_another(record: CommandRecord, journal: JournalPosition) -> bool:
    """Whether the machine's journal cannot speak for this command any more."""
    return record.journal_id != journal.id or journal.sequence < record.journal_sequence
