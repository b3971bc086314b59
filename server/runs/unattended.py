"""Runs that no node works at: they wait for their turn, or are halted and keep no node any more.

A node sees by itself what becomes of a run that it works at.  The others are looked through now and
then: those that may not go on end, and with them their secrets go; and what people have answered is
done where whoever took the answer was killed before it did so.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from server.errors import StoreUnavailable
from server.fleet.lasting_rights import LastingRights
from server.runs.answering import ParkedAnswers
from server.runs.ending import MACHINE_REMOVED, RunEnding, why_no_right
from server.store.machines.machines import MachineStore
from server.store.runs.runs import RunStore, UnattendedRun

logger = logging.getLogger(__name__)

ROUND_SECONDS: Final = 30.0
"""Between two looks through all of them."""


class UnattendedRuns:
    """Looks through them, on every node: of several that see the same one write decides."""

    def __init__(
        self,
        store: RunStore,
        machines: MachineStore,
        rights: LastingRights,
        answers: ParkedAnswers,
        ending: RunEnding,
    ) -> None:
        self._store = store
        self._machines = machines
        self._rights = rights
        self._answers = answers
        self._ending = ending

    async def run(self) -> None:
        """Look through them again and again, for ever."""
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            with suppress(StoreUnavailable):
                await self._look()

    async def end(self, organization_id: UUID, run_id: UUID, why: str) -> bool:
        """End one with an error, unless a node has begun to work at it; whether this did it."""
        stored = await self._store.get_unattended(organization_id, run_id)
        if stored is None:
            return False
        return await self._ending.end(stored, None, "error", why) is not None

    async def _look(self) -> None:
        async for some in self._store.unattended():
            for run, why in (await self._over(some)).items():
                if await self.end(run.organization_id, run.id, why):
                    logger.info("run=%s ends before any node works at it again: %s", run.id, why)
            await self._answers.apply_among(some)

    async def _over(self, some: Sequence[UnattendedRun]) -> Mapping[UnattendedRun, str]:
        """Of these those that cannot or may not go on, and why."""
        # In this order: a machine that is removed has left the pools of its token as well.
        over = await self._rights.over_among({_begun(run) for run in some})
        there = await self._there(some)
        why: dict[UnattendedRun, str] = {}
        for run in some:
            if run.machine_id is not None and (run.organization_id, run.machine_id) not in there:
                why[run] = MACHINE_REMOVED
            elif (lost := over.get(_begun(run))) is not None:
                why[run] = why_no_right(lost, run.by)
        return why

    async def _there(self, some: Sequence[UnattendedRun]) -> set[tuple[UUID, str]]:
        """The machines of these runs that have not been removed, each with its organization."""
        wanted: dict[UUID, set[str]] = {}
        for run in some:
            if run.machine_id is not None:
                wanted.setdefault(run.organization_id, set()).add(run.machine_id)
        return {
            (organization_id, machine.machine_id)
            for organization_id, machine_ids in wanted.items()
            for machine in await self._machines.some(organization_id, sorted(machine_ids))
        }


def _begun(run: UnattendedRun) -> tuple[UUID, UUID, str | None]:
    return run.organization_id, run.token_id, run.machine_id
