"""What earlier links of a machine left open, made final before anything new is sent to it."""

import asyncio
from contextlib import suppress
from functools import partial

from schemas.inputs.outcomes import Unknown
from schemas.link.close_codes import CloseCode
from server.dispatch.ledger.machine_link import MachineLink
from server.dispatch.ledger.resolver import Resolver, ask, journal_is_lost
from server.dispatch.ledger.under_way import CommandsUnderWay, PendingError
from server.machines.link.errors import LinkDownError
from server.store.commands import CommandRecord, CommandStore
from server.store.retrying import retry

REPORT_SECONDS = 30.0


class Reconciler:
    """Reconciles the ledger with a machine's journal when the machine is back."""

    def __init__(
        self, commands: CommandStore, resolver: Resolver, under_way: CommandsUnderWay
    ) -> None:
        self._commands = commands
        self._resolver = resolver
        self._under_way = under_way

    async def mark_lost(self, link: MachineLink) -> None:
        """Store as unknown what earlier links left open and the machine's journal has lost.

        All of it, before the journal counts its number up: a later link could not tell any more.
        """
        lost = [record for record in await self._open(link) if journal_is_lost(record, link)]
        await asyncio.gather(*(self._give_up(record) for record in lost))

    async def reconcile(self, link: MachineLink) -> None:
        """Make final what earlier links left open, before anything new is sent.

        Returns when the machine has said of each of them how it ended, or that it still runs.
        Where it does not say so in time the link is closed.
        """
        records = await self._open(link)
        await asyncio.gather(*(self._reconcile_one(record, link) for record in records))

    async def _open(self, link: MachineLink) -> list[CommandRecord]:
        """What earlier links of the machine have sent and nobody knows the end of."""
        return await retry(
            lambda: self._commands.unresolved(link.organization_id, link.machine_id, link.epoch),
            is_worthwhile=lambda: not link.is_over,
        )

    async def _give_up(self, record: CommandRecord) -> None:
        # Its owner may forget it meanwhile, who knows that nothing had been sent.
        with suppress(PendingError):
            await self._resolver.finish(record, Unknown())

    async def _reconcile_one(self, record: CommandRecord, link: MachineLink) -> None:
        try:
            async with asyncio.timeout(REPORT_SECONDS):
                question = await ask(record, link)
                # Where a task is under way, it waits for an older link and is about to notice its
                # end.
                answering = partial(self._resolver.answered, record, question, link)
                work = self._under_way.begin(record.request_key, answering)
                await asyncio.wait((question.reported,))
        except LinkDownError:
            return
        except TimeoutError:
            link.close(
                CloseCode.REPORT_MISSED,
                f"no word within {REPORT_SECONDS:g} s on {record.command_id}, which an earlier "
                "link left open",
            )
            return
        if question.outcome.done():
            await asyncio.wait((work,))
