"""The records of keyed commands, from their claim until they are sent."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

from server.clock import from_milliseconds, seconds_until
from server.dispatch.command import Command
from server.dispatch.ledger.machine_link import MachineLink
from server.dispatch.questions.inputs import Settle
from server.dispatch.refusals import RefusedError, in_progress
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.retrying import retry
from server.store.times import now

CLAIM_LIFETIME = timedelta(seconds=5)
"""How long a claim of which nothing was sent keeps others away.

Should its node be slow, not dead, nothing happens twice: it finds its claim taken over.
"""

CLAIM_POLL_SECONDS = 0.25


class Claims:
    """Claims commands: of all who try under one key, one wins."""

    def __init__(self, commands: CommandStore) -> None:
        self._commands = commands

    async def claim(self, command: Command, link: MachineLink) -> tuple[CommandRecord, bool]:
        """The record that stands after an attempt to claim, and whether it is this attempt's.

        It says SENT from the start where the link can send at once: this node holds it itself.
        """
        state = CommandState.SENT if link.is_live else CommandState.CLAIMED
        own = new_record(command, SentOn.of(link), state)
        standing = await self._standing(own, command)
        return standing, standing.is_of(own)

    async def mark_sent(
        self, command: Command, claim: CommandRecord, link: MachineLink
    ) -> CommandRecord:
        """The record that says SENT, once the link is live.

        Raises RefusedError where somebody took the claim over, who has the answer or will.
        """
        sent = replace(
            claim,
            state=CommandState.SENT,
            journal_sequence=link.journal_sequence,
            journal_mark=link.journal_mark,
        )
        if not await retry(
            lambda: self._commands.mark_sent(sent), is_worthwhile=lambda: has_time(command)
        ):
            raise RefusedError(in_progress())
        return sent

    async def withdraw(self, command_id: UUID, record: CommandRecord) -> None:
        """Whatever the record says, this node knows that nothing left: the key is free again."""
        await self._commands.forget(command_id, record.attempt)

    async def abandoned(self, own: CommandRecord) -> CommandRecord | None:
        """This node's claim of a command that nobody has sent; None where somebody has.

        One whose claimer may still send it is waited for.
        """
        while True:
            standing = await self._commands.claim(own)
            if standing.is_of(own):
                return own
            if standing.state is not CommandState.CLAIMED:
                return None
            left = (standing.claimed_until - now()).total_seconds()
            if left > 0:
                await asyncio.sleep(min(left, CLAIM_POLL_SECONDS))
            elif await self._commands.take_over(standing, own):
                return own

    async def find(self, command: Command) -> CommandRecord | None:
        """The record of a command, or None."""
        return await self._commands.find(command.id)

    async def _standing(self, own: CommandRecord, command: Command) -> CommandRecord:
        """The record that stands in the end: one's own, or another's that is no mere claim."""
        while True:
            standing = await retry(
                lambda: self._commands.claim(own), is_worthwhile=lambda: has_time(command)
            )
            if (
                standing.is_of(own)
                or standing.state is not CommandState.CLAIMED
                or not command.is_recorded_in(standing)
            ):
                return standing
            left = (standing.claimed_until - now()).total_seconds()
            if left <= 0:
                abandoned = standing
                if await retry(
                    lambda: self._commands.take_over(abandoned, own),  # noqa: B023 - awaited
                    is_worthwhile=lambda: has_time(command),
                ):
                    return own
            elif not has_time(command):
                raise RefusedError(in_progress())
            else:
                await asyncio.sleep(min(left, CLAIM_POLL_SECONDS))


@dataclass(frozen=True, slots=True)
class SentOn:
    """What a record says of the link that its command goes to, and of the journal behind it.

    The node that has the link knows the journal, and no other does.
    """

    epoch: int
    boot_id: str | None = None
    journal_id: UUID | None = None
    journal_sequence: int = 0
    journal_mark: UUID | None = None

    @classmethod
    def of(cls, link: MachineLink) -> "SentOn":
        """Those of a link that is up."""
        return cls(
            epoch=link.epoch,
            boot_id=link.greeting.boot_id,
            journal_id=link.greeting.journal_id,
            journal_sequence=link.journal_sequence,
            journal_mark=link.journal_mark,
        )


def new_record(command: Command, sent_on: SentOn, state: CommandState) -> CommandRecord:
    """What the ledger says of a command that goes to this link."""
    return CommandRecord(
        command_id=command.id,
        organization_id=command.organization_id,
        machine_id=command.machine_id,
        operation=command.operation,
        fingerprint=command.fingerprint,
        state=state,
        attempt=uuid4(),
        claimed_until=now() + CLAIM_LIFETIME,
        epoch=sent_on.epoch,
        boot_id=sent_on.boot_id,
        journal_id=sent_on.journal_id,
        journal_sequence=sent_on.journal_sequence,
        journal_mark=sent_on.journal_mark,
        request_id=command.sender.request_id,
        minimal=command.minimal,
        accepted_at=from_milliseconds(command.accepted_at),
        expires_at=from_milliseconds(command.expires_at),
        token_id=command.sender.token_id,
        token_name=command.sender.token_name,
    )


def abandoned_record(asked: Settle) -> CommandRecord:
    """What the ledger says of a command that is not to be sent any more."""
    return CommandRecord(
        command_id=asked.command_id,
        organization_id=asked.sender.organization_id,
        machine_id=asked.machine_id,
        operation=asked.operation,
        fingerprint=asked.fingerprint,
        state=CommandState.CLAIMED,
        attempt=uuid4(),
        claimed_until=now() + CLAIM_LIFETIME,
        epoch=0,
        boot_id=None,
        journal_id=None,
        journal_sequence=0,
        request_id=asked.sender.request_id,
        minimal=False,
        accepted_at=asked.accepted_at,
        expires_at=asked.expires_at,
        token_id=asked.sender.token_id,
        token_name=asked.sender.token_name,
    )


def has_time(command: Command) -> bool:
    """Whether the command may still begin."""
    return seconds_until(command.expires_at) > 0
