"""Makes outcomes final: stored first, then given."""

import asyncio
from datetime import datetime, timedelta

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import NotCarriedOut, Outcome, Unknown
from schemas.link.messages import Resolve
from server.clock import milliseconds, server_time
from server.dispatch.command import Ended
from server.dispatch.ledger.machine_link import MachineLink
from server.dispatch.ledger.observer import CommandObserver
from server.dispatch.ledger.under_way import PendingError
from server.dispatch.questions.inputs import KnownCommand
from server.machines.link.errors import LinkDownError, LinkLostError
from server.machines.pending_outcomes import Question
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.retrying import always, retry
from server.store.times import now

JOURNAL_KEEPS = timedelta(days=7)


class Resolver:
    """Ends records of the ledger, with what the machine or its journal says."""

    def __init__(self, commands: CommandStore, observer: CommandObserver) -> None:
        self._commands = commands
        self._observer = observer

    async def resolved(self, record: CommandRecord, link: MachineLink) -> Ended:
        """How a command ended that an earlier link sent: this link's machine is asked.

        Raises PendingError where it does not say.
        """
        if journal_is_lost(record, link):
            return await self.finish(record, Unknown())
        try:
            question = await ask(record, link)
        except LinkDownError:
            raise PendingError(record.command_id) from None
        return await self.answered(record, question, link)

    async def answered(self, record: CommandRecord, question: Question, link: MachineLink) -> Ended:
        """Make final what this link's machine answers.  Raises PendingError where it does not."""
        try:
            outcome = await question.outcome
        except (LinkLostError, TimeoutError):
            # It may be on its way on this very link, where whoever sent it waits no longer.
            raise PendingError(record.command_id) from None
        if isinstance(outcome, NotCarriedOut) and _may_be_forgotten(record, link):
            outcome = Unknown()
        return await self.finish(record, outcome)

    async def finish(self, record: CommandRecord, outcome: Outcome) -> Ended:
        """Store the outcome, then tell it: what is stored first is what everybody gets.

        Tries for as long as this node lives; nobody else may know this outcome.
        """
        state = CommandState.DONE
        if isinstance(outcome, NotCarriedOut):
            state = CommandState.NOT_CARRIED_OUT
        elif isinstance(outcome, Unknown):
            state = CommandState.UNKNOWN
        final_at = now()
        ended = Ended.of(record, outcome, milliseconds(final_at))
        first = await retry(
            lambda: self._stored(record, state, ended, final_at), is_worthwhile=always
        )
        # After an attempt of which nothing was heard it may be this one all the same.
        if first == ended:
            self._observer.ended(record, outcome)
        return first

    async def _stored(
        self, record: CommandRecord, state: CommandState, ended: Ended, final_at: datetime
    ) -> Ended:
        """The end that stands, which may be this one."""
        if await self._commands.finish(record, state, ended.outcome, final_at):
            return ended
        first = await self._commands.find(record.command_id)
        stands = None if first is None or not _is_same_request(first, record) else end_of(first)
        if stands is None:
            # Forgotten by its owner, who found that nothing had been sent; another request may
            # have its key by now, whose end is not this one's.
            raise PendingError(record.command_id)
        return stands


def _is_same_request(one: CommandRecord, other: CommandRecord) -> bool:
    return one.request_key == other.request_key


def end_of(record: CommandRecord) -> Ended | None:
    """How a recorded command has ended, if it has."""
    if record.outcome is None or record.final_at is None:
        return None
    return Ended.of(record, record.outcome, milliseconds(record.final_at))


def known_command(record: CommandRecord) -> KnownCommand:
    """What a record says of its command, for whoever sent it."""
    return KnownCommand(
        command_id=record.command_id,
        machine_id=record.machine_id,
        operation=Operation(record.operation),
        state=record.state.value.lower(),
        is_final=record.state.is_final,
        accepted_at=record.accepted_at,
        expires_at=record.expires_at,
        final_at=record.final_at,
        ended=end_of(record),
    )


async def ask(record: CommandRecord, link: MachineLink) -> Question:
    """Ask a machine what became of a command that an earlier link sent.

    Waits for its word on another request with the same key, if it is being asked about one: it
    answers with the key's id alone.  Raises LinkDownError.
    """
    while (question := _asked(record, link)).fingerprint != record.fingerprint:
        await asyncio.wait((question.reported,))
    return question


def _asked(record: CommandRecord, link: MachineLink) -> Question:
    return link.resolve(
        Resolve(
            command_id=record.command_id,
            mark=record.journal_mark,
            fingerprint=record.fingerprint,
            server_time=server_time(),
        )
    )


def _may_be_forgotten(record: CommandRecord, link: MachineLink) -> bool:
    """Whether a command that the journal does not know may have been carried out all the same.

    The journal notes what no key can repeat only when there is time, so a machine client that was
    killed knows nothing of its last ones; and it keeps the others for seven days at least.  Where
    the machine has booted since, it may have done so with an old image of its disk.
    """
    has_booted = record.boot_id not in (None, link.greeting.boot_id)
    return not record.is_keyed or has_booted or now() - record.accepted_at > JOURNAL_KEEPS


def journal_is_lost(record: CommandRecord, link: MachineLink) -> bool:
    """Whether the machine's journal cannot speak for this command any more.

    It is another journal, or an old copy of it.  A link's hello says nothing of what was sent on
    this very link, or on a newer one.  Of a command without a key that was lost on its way from
    another node nobody knows the journal; all that this one can say of it is true.
    """
    greeting = link.greeting
    if record.journal_id is None:
        return False
    return record.epoch < link.epoch and (
        record.journal_id != greeting.journal_id
        or greeting.journal_sequence < record.journal_sequence
    )
