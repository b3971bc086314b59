"""The runs that this node works at: claimed in their turn, or from a node that went away."""

import asyncio
import logging
from contextlib import suppress
from typing import Final
from uuid import UUID

from server.errors import StoreUnavailable
from server.runs.course import CourseParts, RunCourse
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore
from server.store.runs.documents import StoredRun
from server.store.times import now
from server.tasks import Tasks

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 1.0
"""Between two looks for runs that have their turn, or whose node went away."""

LEAVING_POLL_SECONDS: Final = 0.02

MOST_AT_ONCE: Final = 200
"""On one node."""


class RunExecutor:
    """Works at runs, for as long as this node does not leave."""

    def __init__(
        self,
        parts: CourseParts,
        machines: MachineStore,
        pools: PoolStore,
        background: Tasks,
    ) -> None:
        self._parts = parts
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

    async def _claim_abandoned(self) -> None:
        while not self._leaves and len(self._courses) < MOST_AT_ONCE:
            run = await self._parts.turns.abandoned()
            if run is None:
                return
            self.taken_over += 1
            logger.warning("run=%s goes on here at step=%d: its node went away", run.id, run.step)
            self._begin(run)

    async def _claim_waiting(self) -> None:
        waiting = await self._parts.turns.waiting()
        if not waiting:
            return
        busy = set(await self._parts.turns.busy())
        for run in waiting:
            if self._leaves or len(self._courses) >= MOST_AT_ONCE:
                return
            machine_id = await self._machine_for(run, busy)
            if machine_id is None:
                continue
            busy.add((run.organization_id, machine_id))
            if (begun := await self._parts.turns.begin(run, machine_id)) is not None:
                self._parts.ending.tell(begun)
                self._begin(begun)

    async def _machine_for(self, run: StoredRun, busy: set[tuple[UUID, str]]) -> str | None:
        """A machine that a run may begin on now: its own, or one of its pools."""
        if run.machine_id is not None:
            among = [run.machine_id]
        else:
            among = sorted(await self._pools.members(run.organization_id, run.pool_ids or ()))
        free = [each for each in among if (run.organization_id, each) not in busy]
        linked = await self._machines.some(run.organization_id, free) if free else []
        for machine in linked:
            control = machine.control
            is_free = control is None or control.expires_at <= now()
            if machine.is_linked and not machine.paused and is_free:
                return machine.machine_id
        if run.machine_id is not None:
            # Those behind it wait for it: it is their turn after it.
            busy.add((run.organization_id, run.machine_id))
        return None

    def _begin(self, run: StoredRun) -> None:
        course = self._courses[run.id] = RunCourse(self._parts, run)
        self._background.start_and_report(self._worked(course, run.id), f"run {run.id}")

    async def _worked(self, course: RunCourse, run_id: UUID) -> None:
        try:
            await course.go()
        finally:
            if self._courses.get(run_id) is course:
                del self._courses[run_id]
            self._woken.set()
