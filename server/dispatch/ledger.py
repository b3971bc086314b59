"""At most once: the record of every keyed command, from its claim to its final answer.

A command id is derived from the organization and the key, so whoever asks again asks for the same
record.  The record is written before anything leaves and its final answer before it is given; a
record that says SENT is never sent again, only resolved with the machine's journal.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from schemas import problems
from schemas.outcomes import Outcome
from schemas.problems import InvalidRequestError, ProblemError
from server.dispatch.answers import final_answer
from server.dispatch.command import Command
from server.dispatch.dispatcher import Dispatcher, pending, refusal
from server.dispatch.resolver import Resolver, subject_of
from server.machines.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.socket import LinkSocket
from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from server.tasks import Tasks


@dataclass(frozen=True, slots=True)
class _UnderWay:
    fingerprint: str
    task: asyncio.Task[tuple[Answer, bool]]


class Ledger:
    """Answers commands; those with a key are carried out at most once."""

    def __init__(
        self,
        commands: CommandStore,
        dispatcher: Dispatcher,
        resolver: Resolver,
        background: Tasks,
    ) -> None:
        self._commands = commands
        self._dispatcher = dispatcher
        self._resolver = resolver
        self._background = background
        self._under_way: dict[UUID, _UnderWay] = {}

    async def answer(self, command: Command) -> tuple[Answer, bool]:
        """The final answer to a command, and whether it was given before.

        Raises a problem where there is no final answer: nothing was sent, or the outcome is not
        known yet.
        """
        if not command.is_keyed:
            return final_answer(
                subject_of(command), await self._dispatcher.carry_out(command)
            ), False
        first = self._under_way.get(command.id)
        if first is None:
            return await self._wait(self._begin(command), command, pending(command.id))
        if first.fingerprint != command.fingerprint:
            raise key_reused()
        answer, _ = await self._wait(first, command, _in_progress())
        return answer, True

    def _begin(self, command: Command) -> _UnderWay:
        """Work on a command in a task of its own, which outlives its callers' patience."""
        task = self._background.start(self._first(command), f"command {command.id}")
        under_way = self._under_way[command.id] = _UnderWay(command.fingerprint, task)
        task.add_done_callback(lambda ended: self._ended(command.id, ended))
        return under_way

    def _ended(self, command_id: UUID, task: asyncio.Task[tuple[Answer, bool]]) -> None:
        del self._under_way[command_id]
        if not task.cancelled():
            # Everybody who waited may have given up; an error that they missed is theirs to ask
            # for again, not a warning at the collector's.
            task.exception()

    async def _wait(
        self, under_way: _UnderWay, command: Command, too_late: ProblemError
    ) -> tuple[Answer, bool]:
        left = command.answer_by - asyncio.get_running_loop().time()
        done, _ = await asyncio.wait((under_way.task,), timeout=max(left, 0))
        if not done:
            raise too_late
        return under_way.task.result()

    async def _first(self, command: Command) -> tuple[Answer, bool]:
        try:
            link = await self._dispatcher.link_for(command)
            with link.place():
                record = _record(command, link)
                if not await self._commands.claim_sent(record):
                    return await self._answer_again(command)
                answered = await self._send(command, record, link)
        except (ProblemError, LinkDownError, LinkBusyError) as error:
            # Nothing was sent; but a final answer is given again even while the machine is away.
            if (known := await self._commands.find(command.id)) is not None:
                return await self._known(command, known)
            if isinstance(error, ProblemError):
                raise
            raise refusal(error, command) from None
        try:
            return await self._resolver.finish(record, await answered), False
        except LinkLostError:
            raise pending(command.id) from None

    async def _send(
        self, command: Command, record: CommandRecord, link: LinkSocket
    ) -> asyncio.Future[Outcome]:
        try:
            return link.send(command.message())
        except LinkDownError:
            # It says SENT, but this node knows that nothing left: the key is free again.
            await self._commands.forget(command.id, record.attempt)
            raise

    async def _answer_again(self, command: Command) -> tuple[Answer, bool]:
        known = await self._commands.find(command.id)
        if known is None:
            # Its owner found the link down and forgot it, between our two looks.
            raise _in_progress()
        return await self._known(command, known)

    async def _known(self, command: Command, record: CommandRecord) -> tuple[Answer, bool]:
        if record.fingerprint != command.fingerprint:
            raise key_reused()
        if record.answer is not None:
            return record.answer, True
        link = self._dispatcher.connected(command.organization_id, command.machine_id)
        if link is None:
            raise pending(command.id)
        return await self._resolver.resolve(record, link), True


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


def _record(command: Command, link: LinkSocket) -> CommandRecord:
    """A record that says SENT from the start: this node holds the link itself."""
    return CommandRecord(
        command_id=command.id,
        organization_id=command.organization_id,
        machine_id=command.machine_id,
        operation=command.operation,
        fingerprint=command.fingerprint,
        state=CommandState.SENT,
        attempt=uuid4(),
        epoch=link.epoch,
        journal_id=link.hello.journal.id,
        journal_sequence=link.journal_sequence,
        request_id=command.request_id,
        minimal=command.minimal,
        accepted_at=datetime.fromtimestamp(command.accepted_at / 1000, UTC),
        expires_at=datetime.fromtimestamp(command.expires_at / 1000, UTC),
    )
