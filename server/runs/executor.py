"""The runs that this node works at: claimed in their turn, or from a node that went away."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from server.errors import StoreUnavailable
from server.runs.course import CourseParts, RunCourse
from server.runs.ending import MACHINE_REMOVED
from server.runs.unattended import UnattendedRuns
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore
from server.store.runs.documents import StoredRun
from server.store.runs.turns import WaitingRun
from server.store.times import now
from server.tasks import Tasks

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""Between two looks for runs that have their turn, or whose node went away."""

LEAVING_POLL_SECONDS: Final = 0.02

MOST_AT_ONCE: Final = 200
"""On one node, besides those that are halted: these wait for people, and simply go on then."""

MOST_KEPT: Final = 1_000
"""On one node, with those that are halted.

Each has a machine of its own, by a unique index, and as many requests for help may an organization
have open.  What a halted run costs a node are a few small operations of the database in two
seconds.
"""

_Machine = tuple[UUID, str]
"""A machine, and before it its organization."""


class RunExecutor:
    """Works at runs, for as long as this node does not leave."""

    def __init__(
        self,
        parts: CourseParts,
        unattended: UnattendedRuns,
        machines: MachineStore,
        pools: PoolStore,
        background: Tasks,
    ) -> None:
        self._parts = parts
        self.unattended = unattended
        self._machines = machines
        self._pools = pools
        self._background = background
        self._courses: dict[UUID, RunCourse] = {}
        self._woken = asyncio.Event()
        self._leaves = False
        self.taken_over = 0

    @property
    def under_way(self) -> int:
        """How many runs this node works at."""
        return len(self._courses)

    def wake(self) -> None:
        """Something may be to do."""
        self._woken.set()
        for course in self._courses.values():
            course.look()

    async def run(self) -> None:
        """Claim what can be claimed, for ever."""
        while not self._leaves:
            self._woken.clear()
            with suppress(StoreUnavailable):
                await self._claim_abandoned()
                await self._claim_waiting()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._woken.wait()

    async def leave(self, timeout: float) -> None:
        """Hand what this node works at over to others: each between two steps."""
        self._leaves = True
        for course in self._courses.values():
            course.leave()
        give_up_at = asyncio.get_running_loop().time() + timeout
        while self._courses and asyncio.get_running_loop().time() < give_up_at:  # noqa: ASYNC110
            await asyncio.sleep(LEAVING_POLL_SECONDS)

    def _has_room(self) -> bool:
        working = sum(not course.is_halted for course in self._courses.values())
        return working < MOST_AT_ONCE and len(self._courses) < MOST_KEPT

    async def _claim_abandoned(self) -> None:
        while not self._leaves and self._has_room():
            run = await self._parts.turns.abandoned(self._courses.keys())
            if run is None:
                return
            self.taken_over += 1
            logger.warning("run=%s goes on here at step=%d: its node went away", run.id, run.step)
            self._begin(run)

    async def _claim_waiting(self) -> None:
        """Begin the first that wait for each machine, as long as there are any that can begin."""
        looks_again = True
        while looks_again:
            looks_again = False
            waiting = await self._parts.turns.waiting()
            among = [await self._among(run) for run in waiting]
            free, gone = await self._free(waiting, among) if waiting else (set(), set())
            for run, machine_ids in zip(waiting, among, strict=True):
                if self._leaves:
                    return
                if (run.organization_id, run.machine_id) in gone:
                    ended = self.unattended.end(run.organization_id, run.id, MACHINE_REMOVED)
                    looks_again |= await ended
                for machine_id in machine_ids:
                    if (machine := (run.organization_id, machine_id)) in free:
                        if not self._has_room():
                            return
                        free.discard(machine)
                        looks_again |= await self._begun(run, machine_id)
                        break

    async def _begun(self, run: WaitingRun, machine_id: str) -> bool:
        begun = await self._parts.turns.begin(run, machine_id)
        if begun is not None:
            logger.info("run=%s begins here at step=%d: machine=%s", run.id, begun.step, machine_id)
            self._parts.ending.tell(begun)
            self._begin(begun)
        return begun is not None

    async def _among(self, run: WaitingRun) -> list[str]:
        """The machines that a run may begin on: its own, or those of its pools."""
        if run.machine_id is not None:
            return [run.machine_id]
        return sorted(await self._pools.members(run.organization_id, run.pool_ids or ()))

    async def _free(
        self, waiting: Sequence[WaitingRun], among: Sequence[Sequence[str]]
    ) -> tuple[set[_Machine], set[_Machine]]:
        """Those of the machines that are connected and that nobody has, and those that are gone."""
        wanted: dict[UUID, set[str]] = {}
        for run, machine_ids in zip(waiting, among, strict=True):
            wanted.setdefault(run.organization_id, set()).update(machine_ids)
        busy, moment = set(await self._parts.turns.busy(wanted)), now()
        free: set[_Machine] = set()
        gone: set[_Machine] = set()
        for organization_id, those in wanted.items():
            there = await self._machines.some(organization_id, sorted(those))
            free |= {
                (organization_id, machine.machine_id)
                for machine in there
                if machine.is_linked
                and not machine.paused
                and (machine.control is None or machine.control.expires_at <= moment)
            }
            left = those - {machine.machine_id for machine in there}
            gone |= {(organization_id, machine_id) for machine_id in left}
        return free - busy, gone

    def _begin(self, run: StoredRun) -> None:
        course = self._courses[run.id] = RunCourse(self._parts, run)
        if self._leaves:
            # It was being claimed when the others were told.
            course.leave()
        self._background.start_and_report(self._worked(course, run.id), f"run {run.id}")

    async def _worked(self, course: RunCourse, run_id: UUID) -> None:
        try:
            await course.go()
        finally:
            if self._courses.get(run_id) is course:
                del self._courses[run_id]
            self._woken.set()
