"""At most once: the way of every command from its claim to its final answer.

A command id is derived from the organization and the key, so whoever asks again asks for the same
record.  The record is written before anything leaves and its final answer before it is given; a
record that says SENT is never sent again, only resolved with the machine's journal.

The ledger runs where the machine's link lives.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from uuid import UUID

from schemas.inputs.outcomes import Expired, NotCarriedOut, Outcome, Unknown
from schemas.programs.failpoints import Failpoint, reached
from server.clock import seconds_until, server_time
from server.dispatch.command import Command, CommandReply, Ended, Pending
from server.dispatch.ledger.claims import (
    CLAIM_LIFETIME,
    Claims,
    SentOn,
    abandoned_record,
    new_record,
)
from server.dispatch.ledger.machine_link import MachineLink
from server.dispatch.ledger.observer import CommandObserver
from server.dispatch.ledger.resolver import Resolver, end_of
from server.dispatch.ledger.timings import Timings
from server.dispatch.ledger.under_way import CommandsUnderWay, PendingError, in_time
from server.dispatch.questions.inputs import Settle
from server.dispatch.questions.question import Refusal, RefusalKind
from server.dispatch.refusals import RefusedError, in_progress, key_reused, refused, settling
from server.errors import StoreUnavailable
from server.machines.link.errors import LinkDownError, LinkLostError, SubmissionRefusedError
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.retrying import retry
from server.store.times import now
from server.tasks import Tasks

POLL_SECONDS = 5.0
KEEP_SECONDS = 1.0


class Ledger:
    """Answers commands; those with a key are carried out at most once."""

    def __init__(
        self,
        commands: CommandStore,
        resolver: Resolver,
        under_way: CommandsUnderWay,
        background: Tasks,
        observer: CommandObserver,
    ) -> None:
        self._commands = commands
        self._claims = Claims(commands)
        self._resolver = resolver
        self._under_way = under_way
        self._background = background
        self._observer = observer

    async def answer(self, command: Command, link: MachineLink, timings: Timings) -> CommandReply:
        """What becomes of a command, which goes to its machine's link unless it has already."""
        if not command.is_keyed:
            return await self._without_key(command, link, timings)
        return await self._together(command, lambda: self._first(command, link, timings))

    async def known(self, command: Command, why_not: Refusal | Pending) -> CommandReply:
        """What became of a command that nothing can be sent of; ``why_not`` where none is known."""
        if not command.is_keyed:
            return why_not
        return await self._together(command, lambda: self._without_link(command, why_not))

    async def _together(
        self, command: Command, ending: Callable[[], Awaitable[Ended]]
    ) -> CommandReply:
        """What whoever asked first under a key gets, for all who ask meanwhile."""
        first = self._under_way.find(command.request_key)
        if first is None:
            first = self._under_way.begin(command.request_key, ending)
            return await in_time(first, command.answer_by, Pending(command_id=command.id))
        reply = await in_time(first, command.answer_by, in_progress())
        return reply.replayed() if isinstance(reply, Ended) else reply

    async def find(
        self, organization_id: UUID, command_id: UUID, machine_id: str | None = None
    ) -> CommandRecord | None:
        """The record of a command, or None; with ``machine_id`` only where it is that machine's."""
        record = await self._commands.find(command_id)
        if record is None or record.organization_id != organization_id:
            return None
        return record if machine_id in (None, record.machine_id) else None

    async def has_ended(self, command: Command) -> bool:
        """Whether the end of a command is stored, so that no machine need be asked."""
        known = await self._claims.find(command)
        return known is not None and known.outcome is not None

    async def give_up(self, asked: Settle) -> None:
        """End a command that was not sent, so that it never will be; what was sent stays as it is.

        Another node may hold it, stopped just before it claims it: it finds it ended then.
        """
        own = abandoned_record(asked)
        standing = await self._claims.abandoned(own)
        if standing is not None:
            await self._resolver.finish(standing, NotCarriedOut())

    async def look_up(self, record: CommandRecord, link: MachineLink) -> CommandRecord | None:
        """A record as it is when its machine was asked about it, where that can settle it."""
        if record.outcome is not None or self._under_way.find(record.request_key) is not None:
            return record
        if record.state is CommandState.SENT:
            resolving = partial(self._resolver.resolved, record, link)
            asked = self._under_way.begin(record.request_key, resolving)
            await asyncio.wait((asked,), timeout=POLL_SECONDS)
        return await self._commands.find(record.command_id)

    async def _without_key(
        self, command: Command, link: MachineLink, timings: Timings
    ) -> CommandReply:
        try:
            with link.slot(command.sender.lease_hash):
                await _until_live(link, command)
                answered = _sent(command, link)
        except SubmissionRefusedError as error:
            return refused(error, command.accepted_at)
        except TimeoutError:
            self._observer.ended(command, Expired())
            return Ended.of(command, Expired(), server_time())
        timings.sent = perf_counter()
        try:
            outcome = await _in_time(answered, command)
        except (TimeoutError, LinkLostError):
            self._observer.left_open(command)
            await self._keep_pending(command, link)
            return Pending(command_id=command.id)
        timings.acknowledged = perf_counter()
        self._observer.ended(command, outcome)
        ended = Ended.of(command, outcome, server_time())
        self._observer.answered(timings, outcome)
        return ended

    async def _keep_pending(self, command: Command, link: MachineLink) -> None:
        """Record a command without a key late, and only for whoever asks what became of it."""
        if command.sender.in_segment:
            return  # Nobody is told its id.
        await self._keep_soon(new_record(command, SentOn.of(link), CommandState.SENT))

    async def keep_lost(self, command: Command, epoch: int) -> None:
        """Record a command without a key that has left for another node and was not heard of again.

        Whether it was sent on the machine's link of this epoch is not known; so the machine is
        asked, as it is for one that was.
        """
        self._observer.left_open(command)
        if not command.sender.in_segment:
            await self._keep_soon(new_record(command, SentOn(epoch), CommandState.SENT))

    async def _keep_soon(self, record: CommandRecord) -> None:
        keeping = self._background.start_and_report(self._keep(record), "keep a pending command")
        await asyncio.wait((keeping,), timeout=KEEP_SECONDS)

    async def _keep(self, record: CommandRecord) -> None:
        with suppress(StoreUnavailable):
            await retry(
                lambda: self._commands.claim(record),
                is_worthwhile=lambda: now() < record.expires_at + CLAIM_LIFETIME,
            )

    async def _first(self, command: Command, link: MachineLink, timings: Timings) -> Ended:
        reached(Failpoint.BEFORE_CLAIM)
        try:
            with link.slot(command.sender.lease_hash):
                record, is_own = await self._claims.claim(command, link)
                if not is_own:
                    return await self._known(command, record, link)
                timings.claimed = perf_counter()
                if record.state is CommandState.CLAIMED:
                    record = await self._marked_sent(command, record, link)
                answered = await self._send(command, record, link)
                timings.sent = perf_counter()
        except SubmissionRefusedError as error:
            return await self._known_or(command, refused(error, command.accepted_at), link)
        except RefusedError as error:
            return await self._known_or(command, error.refusal, link)
        # What is waited for here may come days later.
        command = command.without_text()
        try:
            outcome = await answered
        except LinkLostError:
            self._observer.left_open(command)
            raise PendingError(command.id) from None
        timings.acknowledged = perf_counter()
        reached(Failpoint.AFTER_ACK)
        ended = await self._resolver.finish(record, outcome)
        reached(Failpoint.AFTER_STORED)
        self._observer.answered(timings, outcome)
        return ended

    async def _without_link(self, command: Command, why_not: Refusal | Pending) -> Ended:
        reached(Failpoint.BEFORE_CLAIM)
        return await self._known_or(command, why_not, None)

    async def _marked_sent(
        self, command: Command, claim: CommandRecord, link: MachineLink
    ) -> CommandRecord:
        """The record that says SENT, once the link is live.

        Where the command's time to begin passes before, its key stays unused: the journal may know
        how it ended when the key was used before the ledger's memory, and nobody could ask it.
        """
        reached(Failpoint.AFTER_CLAIM)
        try:
            await _until_live(link, command)
        except (LinkDownError, TimeoutError) as error:
            await self._claims.withdraw(command.id, claim)
            if isinstance(error, TimeoutError):
                raise RefusedError(settling(link.up_since)) from None
            raise
        return await self._claims.mark_sent(command, claim, link)

    async def _send(
        self, command: Command, record: CommandRecord, link: MachineLink
    ) -> "asyncio.Future[Outcome]":
        """Send what the record says is SENT; the future ends with the outcome."""
        reached(Failpoint.AFTER_SENT)
        try:
            answered = _sent(command, link)
        except SubmissionRefusedError:
            await self._claims.withdraw(command.id, record)
            raise
        reached(Failpoint.AFTER_BYTES)
        return answered

    async def _known_or(
        self, command: Command, why_not: Refusal | Pending, link: MachineLink | None
    ) -> Ended:
        """Nothing was sent; but what has ended is told again even while the machine is away."""
        known = await self._claims.find(command)
        if known is not None and known.state is not CommandState.CLAIMED:
            if _is_removed(why_not) and known.outcome is None and command.is_recorded_in(known):
                # Nobody will ever say what became of what its machine had been sent.
                return (await self._resolver.finish(known, Unknown())).replayed()
            return await self._known(command, known, link)
        if isinstance(why_not, Pending):
            raise PendingError(why_not.command_id)
        raise RefusedError(why_not)

    async def _known(
        self, command: Command, record: CommandRecord, link: MachineLink | None
    ) -> Ended:
        if not command.is_recorded_in(record):
            raise RefusedError(key_reused())
        if (ended := end_of(record)) is None:
            if link is None:
                raise PendingError(record.command_id)
            ended = await self._resolver.resolved(record, link)
        return ended.replayed()


def _is_removed(why_not: Refusal | Pending) -> bool:
    """Whether there is no such machine any more."""
    return isinstance(why_not, Refusal) and why_not.kind is RefusalKind.UNKNOWN_MACHINE


def _sent(command: Command, link: MachineLink) -> "asyncio.Future[Outcome]":
    """Send a command.  Raises a SubmissionRefusedError where nothing was sent."""
    return link.send(command.message(link.link_id), command.answer_by, command.sender.lease_hash)


async def _until_live(link: MachineLink, command: Command) -> None:
    """Wait until the link may send the command.

    Raises TimeoutError where its time to begin passes before, and LinkDownError.
    """
    if not link.is_live:
        async with asyncio.timeout(seconds_until(command.expires_at)):
            await link.until_live()


async def _in_time(answered: "asyncio.Future[Outcome]", command: Command) -> Outcome:
    """Wait for the outcome of a command that was sent.

    Raises TimeoutError where none comes in time, and LinkLostError.
    """
    # Cheaper than asyncio.timeout, which may have to cancel a task: here a future is enough.
    loop = asyncio.get_running_loop()
    too_late = loop.call_later(seconds_until(command.answer_by), _give_up, answered)
    try:
        return await answered
    except TimeoutError as error:
        # The link keeps the future for what the machine may still say, and with it this error: it
        # must not keep what waits here, the input among it.
        error.__traceback__ = None
        raise TimeoutError from None
    finally:
        too_late.cancel()


def _give_up(answered: "asyncio.Future[Outcome]") -> None:
    if not answered.done():
        answered.set_exception(TimeoutError())
