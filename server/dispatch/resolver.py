"""Makes outcomes final: those that come by themselves and those that must be asked for."""

import logging
from datetime import UTC, datetime

from schemas.inputs import Operation
from schemas.outcomes import NotCarriedOut, Outcome, Unknown
from server.clock import milliseconds
from server.dispatch.answers import Subject, final_answer
from server.dispatch.command import Command
from server.dispatch.dispatcher import pending
from server.dispatch.persistence import always, persistently
from server.machines.socket import LinkSocket, Question
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore

logger = logging.getLogger(__name__)


class Resolver:
    """Settles records of the ledger, with what the machine or its journal says."""

    def __init__(self, commands: CommandStore) -> None:
        self._commands = commands

    async def resolve(self, record: CommandRecord, question: Question) -> Answer:
        """Make final what the machine answers.  Raises LinkLostError where it does not."""
        outcome = await question.outcome
        if isinstance(outcome, NotCarriedOut) and not record.is_keyed:
            # The journal notes what no key can repeat only when there is time: a machine client
            # that was killed knows nothing of its last ones.
            outcome = Unknown()
        return await self.finish(record, outcome)

    async def finish(self, record: CommandRecord, outcome: Outcome) -> Answer:
        """Store the final answer, then give it: what is stored first is what everybody gets.

        Tries for as long as this node lives; nobody else may know this outcome.
        """
        answer = final_answer(subject_of(record), outcome)
        state = CommandState.DONE
        if isinstance(outcome, NotCarriedOut):
            state = CommandState.NOT_CARRIED_OUT
        elif isinstance(outcome, Unknown):
            state = CommandState.UNKNOWN
        return await persistently(lambda: self._stored(record, state, answer), is_worthwhile=always)

    async def _stored(self, record: CommandRecord, state: CommandState, answer: Answer) -> Answer:
        if await self._commands.finish(record, state, answer, datetime.now(UTC)):
            return answer
        first = await self._commands.find(record.command_id)
        if first is None or first.answer is None:
            # Forgotten by its owner, who found that nothing had been sent.
            raise pending(record.command_id)
        return first.answer


def journal_is_lost(record: CommandRecord, link: LinkSocket) -> bool:
    """Whether the machine's journal cannot speak for this command any more.

    It is another journal, or an old copy of it, or the machine has booted since.  A link's hello
    says nothing of what was sent on this very link, or on a newer one.
    """
    hello = link.hello
    return record.epoch < link.epoch and (
        record.journal_id != hello.journal.id
        or hello.journal.sequence < record.journal_sequence
        or hello.boot_id != record.boot_id
    )


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
