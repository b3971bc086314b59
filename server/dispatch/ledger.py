"""At most once: the record of every keyed command, from its claim to its final answer.

A command id is derived from the organization and the key, so whoever asks again asks for the same
record.  The record is written before anything leaves and its final answer before it is given; a
record that says SENT is never sent again, only resolved with the machine's journal.
"""

import asyncio
import logging
import traceback
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any
from uuid import UUID, uuid4

from schemas.http import problems
from schemas.http.problems import NOT_FOUND, InvalidRequestError, ProblemError
from schemas.inputs.outcomes import Expired, Outcome, Unknown
from schemas.link.messages import CloseCode
from schemas.programs.failpoints import Failpoint, reached
from server.dispatch.answers import final_answer
from server.dispatch.command import Command
from server.dispatch.dispatcher import Dispatcher, pending, refusal, settling
from server.dispatch.observer import CommandWatch, NobodyWatches
from server.dispatch.resolver import Resolver, journal_is_lost, question_about, subject_of
from server.dispatch.retrying import persistently
from server.machines.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.pending_outcomes import Question
from server.machines.socket import LinkSocket
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from server.store.errors import StoreUnavailable
from server.store.times import now
from server.tasks import Tasks

LEASE = timedelta(seconds=5)
"""How long a claim of which nothing was sent keeps others away.

Should its node be slow, not dead, nothing happens twice: it finds its claim taken over.
"""

LEASE_POLL_SECONDS = 0.25
REPORT_SECONDS = 30.0
LOOK_SECONDS = 5.0
KEEP_SECONDS = 1.0
PLACES_LOGGED = 5

_Request = tuple[UUID, str]
"""A command's id and the fingerprint of what was asked for under its key.

Only the record tells whose the key is, never that somebody else asks under it at the same time.
"""

_Work = asyncio.Task[tuple[Answer, bool]]

_FORESEEN = (ProblemError, InvalidRequestError, LinkDownError, LinkLostError, StoreUnavailable)
"""What ends the work on a command without an answer, and is said to whoever asks."""

logger = logging.getLogger(__name__)


class Ledger:
    """Answers commands; those with a key are carried out at most once."""

    def __init__(
        self,
        commands: CommandStore,
        dispatcher: Dispatcher,
        resolver: Resolver,
        background: Tasks,
        watch: CommandWatch | None = None,
    ) -> None:
        self._commands = commands
        self._dispatcher = dispatcher
        self._resolver = resolver
        self._background = background
        self._watch = watch or NobodyWatches()
        self._under_way: dict[_Request, _Work] = {}

    async def answer(self, command: Command) -> tuple[Answer, bool]:
        """The final answer to a command, and whether it was given before.

        Raises a problem where there is no final answer: nothing was sent, or the outcome is not
        known yet.
        """
        if not command.is_keyed:
            return await self._answer_without_key(command), False
        request = command.id, command.fingerprint
        first = self._under_way.get(request)
        if first is None:
            first = self._begin(request, self._first(command))
            return await self._wait(first, command, pending(command.id))
        answer, _ = await self._wait(first, command, _in_progress())
        return answer, True

    async def judge(self, link: LinkSocket) -> None:
        """Store as unknown what earlier links left open and the machine's journal has lost.

        All of it, before the journal counts its number up: a later link could not tell any more.
        """
        lost = [record for record in await self._open(link) if journal_is_lost(record, link)]
        await asyncio.gather(*(self._give_up(record) for record in lost))

    async def settle(self, link: LinkSocket) -> None:
        """Make final what earlier links left open, before anything new is sent.

        Returns when the machine has said of each of them how it ended, or that it still runs.
        Where it does not say so in time the link is closed.
        """
        records = await self._open(link)
        await asyncio.gather(*(self._settle_one(record, link) for record in records))

    async def look(
        self, organization_id: UUID, command_id: UUID, machine_id: str | None = None
    ) -> CommandRecord | None:
        """The record of a command, or None; the machine is asked where it can settle one.

        With ``machine_id``, None for a command of any other machine.
        """
        record = await self._commands.find(command_id)
        if record is None or record.organization_id != organization_id:
            return None
        if machine_id not in (None, record.machine_id):
            return None
        link = self._dispatcher.connected(organization_id, record.machine_id)
        if record.answer is not None or link is None or _request(record) in self._under_way:
            return record
        if record.state is CommandState.SENT:
            asked = self._begin(_request(record), self._resolved(record, link))
            await asyncio.wait((asked,), timeout=LOOK_SECONDS)
        return await self._commands.find(command_id)

    async def _answer_without_key(self, command: Command) -> Answer:
        link = await self._dispatcher.link_for(command)
        try:
            with link.place():
                await self._dispatcher.until_settled(link, command)
                answered = link.send(command.message(link.link_id))
        except (LinkDownError, LinkBusyError) as error:
            raise refusal(error, command) from None
        except TimeoutError:
            self._watch.ended(command, Expired())
            return final_answer(subject_of(command), Expired())
        command.legs.sent = perf_counter()
        try:
            outcome = await self._dispatcher.answer_in_time(answered, command)
        except (TimeoutError, LinkLostError):
            self._watch.left_open(command)
            # Recorded late, and only for whoever asks what became of it.
            record = _record(command, link, CommandState.SENT)
            keeping = self._background.start_and_report(
                self._keep(record), "keep a pending command"
            )
            await asyncio.wait((keeping,), timeout=KEEP_SECONDS)
            raise pending(command.id) from None
        command.legs.acknowledged = perf_counter()
        self._watch.ended(command, outcome)
        answer = final_answer(subject_of(command), outcome)
        self._watch.answered(command, outcome)
        return answer

    async def _keep(self, record: CommandRecord) -> None:
        with suppress(StoreUnavailable):
            await persistently(
                lambda: self._commands.claim(record),
                is_worthwhile=lambda: now() < record.expires_at + LEASE,
            )

    def _begin(self, request: _Request, work: Coroutine[Any, Any, tuple[Answer, bool]]) -> _Work:
        """Work on a request in a task of its own, which outlives its callers' patience.

        Whoever asks the same meanwhile waits for it, unless they wait for another already.
        """
        task = self._background.start(work, f"command {request[0]}")
        self._under_way.setdefault(request, task)
        task.add_done_callback(lambda ended: self._ended(request, ended))
        return task

    def _ended(self, request: _Request, task: _Work) -> None:
        if self._under_way.get(request) is task:
            del self._under_way[request]
        if task.cancelled():
            return
        # Everybody who waited may have given up.  What they missed is theirs to ask for again; but
        # a mistake of ours would be heard of by nobody.
        error = task.exception()
        if error is not None and not isinstance(error, _FORESEEN):
            _log_mistake(request[0], error)

    async def _wait(
        self, work: _Work, command: Command, too_late: ProblemError
    ) -> tuple[Answer, bool]:
        left = command.answer_by - asyncio.get_running_loop().time()
        done, _ = await asyncio.wait((work,), timeout=max(left, 0))
        if not done:
            raise too_late
        return work.result()

    async def _first(self, command: Command) -> tuple[Answer, bool]:
        reached(Failpoint.BEFORE_CLAIM)
        try:
            link = await self._dispatcher.link_for(command)
            with link.place():
                state = CommandState.SENT if link.is_settled else CommandState.CLAIMED
                claim = _record(command, link, state)
                record = await self._claimed(claim, command)
                if not record.is_of(claim):
                    return await self._known(command, record)
                command.legs.claimed = perf_counter()
                if record.state is CommandState.CLAIMED:
                    record = await self._marked_sent(command, record, link)
                answered = await self._send(command, record, link)
                command.legs.sent = perf_counter()
        except (ProblemError, LinkDownError, LinkBusyError) as error:
            return await self._known_or(command, error)
        try:
            outcome = await answered
        except LinkLostError:
            self._watch.left_open(command)
            raise pending(command.id) from None
        command.legs.acknowledged = perf_counter()
        reached(Failpoint.AFTER_ACK)
        answer = await self._resolver.finish(record, outcome)
        reached(Failpoint.AFTER_STORED)
        self._watch.answered(command, outcome)
        return answer, False

    async def _claimed(self, claim: CommandRecord, command: Command) -> CommandRecord:
        """The record that stands after an attempt to claim: one's own, or another's."""
        while True:
            standing = await persistently(
                lambda: self._claim(claim, command), is_worthwhile=lambda: _has_time(command)
            )
            if (
                standing.is_of(claim)
                or standing.state is not CommandState.CLAIMED
                or not command.is_recorded_in(standing)
            ):
                return standing
            left = (standing.lease_until - now()).total_seconds()
            if left <= 0 and standing.command_id != command.id:
                return standing  # An older Farhand's, which is long gone: it is only resolved.
            if left <= 0:
                abandoned = standing
                if await persistently(
                    lambda: self._commands.take_over(abandoned, claim),  # noqa: B023 - awaited
                    is_worthwhile=lambda: _has_time(command),
                ):
                    return claim
            elif not _has_time(command):
                raise _in_progress()
            else:
                await asyncio.sleep(min(left, LEASE_POLL_SECONDS))

    async def _claim(self, claim: CommandRecord, command: Command) -> CommandRecord:
        if command.earlier is None:
            return await self._commands.claim(claim)
        if await self._commands.claim_unless_earlier(claim, command.earlier.command_id):
            return claim
        standing = await self._recorded(command)
        if standing is None:
            raise StoreUnavailable("The command is just being claimed.")
        return standing

    async def _recorded(self, command: Command) -> CommandRecord | None:
        """The record of a command, under the name that an older Farhand gave it too, or None."""
        if command.earlier is None:
            return await self._commands.find(command.id)
        records = await self._commands.find_any([command.id, command.earlier.command_id])
        # An older Farhand may have made two records of one key, for two requests.
        return max(records, key=command.is_recorded_in, default=None)

    async def _send(
        self, command: Command, record: CommandRecord, link: LinkSocket
    ) -> asyncio.Future[Outcome]:
        """Send what the record says is SENT; the future ends with the outcome."""
        reached(Failpoint.AFTER_SENT)
        try:
            answered = link.send(command.message(link.link_id))
        except LinkDownError:
            # Whatever the record says, this node knows that nothing left: the key is free again.
            await self._commands.forget(command.id, record.attempt)
            raise
        reached(Failpoint.AFTER_BYTES)
        return answered

    async def _marked_sent(
        self, command: Command, claim: CommandRecord, link: LinkSocket
    ) -> CommandRecord:
        """The record that says SENT, once the link is settled.

        Where the command's time to begin passes before, its key stays unused: the journal may know
        how it ended when the key was used before the ledger's memory, and nobody could ask it.
        """
        reached(Failpoint.AFTER_CLAIM)
        try:
            await self._dispatcher.until_settled(link, command)
        except (LinkDownError, TimeoutError) as error:
            await self._commands.forget(command.id, claim.attempt)
            if isinstance(error, TimeoutError):
                raise settling(link) from None
            raise
        sent = replace(
            claim,
            state=CommandState.SENT,
            journal_sequence=link.journal_sequence,
            journal_mark=link.journal_mark,
        )
        if not await persistently(
            lambda: self._commands.mark_sent(sent), is_worthwhile=lambda: _has_time(command)
        ):
            raise _in_progress()  # Somebody took this claim over, and has the answer or will.
        return sent

    async def _known_or(
        self, command: Command, error: ProblemError | LinkDownError | LinkBusyError
    ) -> tuple[Answer, bool]:
        """Nothing was sent; but a final answer is given again even while the machine is away."""
        known = await self._recorded(command)
        if known is not None and known.state is not CommandState.CLAIMED:
            is_removed = isinstance(error, ProblemError) and error.problem_type is NOT_FOUND
            if is_removed and known.answer is None and command.is_recorded_in(known):
                # Nobody will ever say what became of what its machine had been sent.
                return await self._resolver.finish(known, Unknown()), True
            return await self._known(command, known)
        if isinstance(error, ProblemError):
            raise error
        raise refusal(error, command) from None

    async def _known(self, command: Command, record: CommandRecord) -> tuple[Answer, bool]:
        if not command.is_recorded_in(record):
            raise key_reused()
        if record.answer is not None:
            return record.answer, True
        link = self._dispatcher.connected(command.organization_id, command.machine_id)
        if link is None:
            raise pending(record.command_id)
        return await self._resolved(record, link)

    async def _resolved(self, record: CommandRecord, link: LinkSocket) -> tuple[Answer, bool]:
        """The final answer to a command that an earlier link sent."""
        if journal_is_lost(record, link):
            return await self._resolver.finish(record, Unknown()), True
        try:
            question = link.resolve(question_about(record))
        except LinkDownError:
            raise pending(record.command_id) from None
        return await self._answered(record, question)

    async def _answered(self, record: CommandRecord, question: Question) -> tuple[Answer, bool]:
        try:
            return await self._resolver.resolve(record, question), True
        except LinkLostError:
            raise pending(record.command_id) from None

    async def _open(self, link: LinkSocket) -> list[CommandRecord]:
        """What earlier links of the machine have sent and nobody knows the end of."""
        return await persistently(
            lambda: self._commands.unresolved(link.organization_id, link.machine_id, link.epoch),
            is_worthwhile=lambda: not link.is_over,
        )

    async def _give_up(self, record: CommandRecord) -> None:
        # Its owner may forget it meanwhile, who knows that nothing had been sent.
        with suppress(ProblemError):
            await self._resolver.finish(record, Unknown())

    async def _settle_one(self, record: CommandRecord, link: LinkSocket) -> None:
        try:
            question = link.resolve(question_about(record))
        except LinkDownError:
            return
        # Where a task is under way, it waits for an older link and is about to notice its end.
        work = self._begin(_request(record), self._answered(record, question))
        heard, _ = await asyncio.wait((question.reported,), timeout=REPORT_SECONDS)
        if not heard:
            link.close(
                CloseCode.REPORT_MISSED,
                f"no word within {REPORT_SECONDS:g} s on {record.command_id}, which an earlier "
                "link left open",
            )
        elif question.outcome.done():
            await asyncio.wait((work,))


def _log_mistake(command_id: UUID, error: BaseException) -> None:
    """Log where an error arose, and not its own words: they may repeat what was to be typed."""
    frames = traceback.extract_tb(error.__traceback__)[-PLACES_LOGGED:]
    places = ", ".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
    logger.error("command=%s failed: error=%s at %s", command_id, type(error).__name__, places)


def _request(record: CommandRecord) -> _Request:
    return record.command_id, record.fingerprint


def key_reused() -> InvalidRequestError:
    """The key belongs to another request."""
    return InvalidRequestError.single(
        ("header", "Idempotency-Key"),
        "this key was used for another request; use a new key for a new request",
        "idempotency_key_reused",
    )


def _in_progress() -> ProblemError:
    return ProblemError(
        problems.KEY_IN_PROGRESS,
        "the first request with this Idempotency-Key is still under way",
        headers={"Idempotency-Status": "in_progress", "Retry-After": "1"},
    )


def _has_time(command: Command) -> bool:
    """Whether the command may still begin."""
    return asyncio.get_running_loop().time() < command.begin_by


def _record(command: Command, link: LinkSocket, state: CommandState) -> CommandRecord:
    """What the ledger says of a command that goes to this link.

    SENT from the start where the link can send at once: this node holds it itself.
    """
    return CommandRecord(
        command_id=command.id,
        organization_id=command.organization_id,
        machine_id=command.machine_id,
        operation=command.operation,
        fingerprint=command.fingerprint,
        state=state,
        attempt=uuid4(),
        lease_until=now() + LEASE,
        epoch=link.epoch,
        boot_id=link.hello.boot_id,
        journal_id=link.hello.journal.id,
        journal_sequence=link.journal_sequence,
        journal_mark=link.journal_mark,
        request_id=command.request_id,
        minimal=command.minimal,
        accepted_at=datetime.fromtimestamp(command.accepted_at / 1000, UTC),
        expires_at=datetime.fromtimestamp(command.expires_at / 1000, UTC),
        token_id=command.token_id,
        token_name=command.token_name,
        earlier=command.earlier,
    )
