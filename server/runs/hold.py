"""The machine of a run, while the run works at it: nobody else's inputs reach it meanwhile."""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Final

from server.dispatch.control import MachineControl
from server.dispatch.questions.question import RefusalKind
from server.dispatch.refusals import RefusedError
from server.errors import StoreUnavailable
from server.runs.stops import Ending, Halting, Unavailable
from server.store.machines.controls import LEASE_SECONDS, NewControl
from server.store.runs.documents import StoredRun

SURELY_KEPT_SECONDS: Final = LEASE_SECONDS - 5.0
"""So soon after it was renewed it cannot have run out: whoever has it now has taken it."""

JUST_NOW_SECONDS: Final = 3.0
"""So soon after it was renewed nobody is asked whether it still is there: an input is, wherever it
arrives, and a course asks every two seconds."""


class RunHold:
    """A run's control of its machine, of which a person may take it at any time."""

    def __init__(self, control: MachineControl, run: StoredRun, machine_id: str) -> None:
        self._control = control
        self._machine = run.organization_id, machine_id
        self._run = run
        self._kept_at: float | None = None
        self._since: datetime | None = None
        self._times_given_back = 0

    @property
    def lease_hash(self) -> str:
        """What its inputs come with."""
        return self._run.reservation

    async def take(self) -> None:
        """Have the machine, as before or from now on.

        Raises Halting where somebody has taken it from the run, Unavailable, Ending, and
        StoreUnavailable.
        """
        if self._since is not None:
            if await self.is_kept():
                return
            if self.was_just_kept:
                raise taken_over("somebody")
        await self._reserve(yields=False)

    async def is_kept(self) -> bool:
        """Renew it; False where it is over."""
        # The answer may be late, and by then the machine was given back.
        asked_at, times_given_back = asyncio.get_running_loop().time(), self._times_given_back
        kept = await self._control.keep(*self._machine, self.lease_hash)
        if kept is not None and times_given_back == self._times_given_back:
            self._kept_at, self._since = asked_at, kept.since
        return kept is not None

    async def is_lost(self) -> bool:
        """Whether somebody has taken it; renewed where it is not so."""
        if not self.was_just_kept:
            return False
        # Once more after the answer: meanwhile it may have been given back, or have run out.
        return not await self.is_kept() and self.was_just_kept

    @property
    def was_just_kept(self) -> bool:
        """Whether it cannot have run out by itself."""
        return self._was_kept_within(SURELY_KEPT_SECONDS)

    @property
    def was_kept_just_now(self) -> bool:
        """Whether it was there a moment ago."""
        return self._was_kept_within(JUST_NOW_SECONDS)

    def _was_kept_within(self, seconds: float) -> bool:
        now = asyncio.get_running_loop().time()
        return self._kept_at is not None and now - self._kept_at < seconds

    async def yield_to_people(self) -> None:
        """Keep programs away, and leave the machine to whoever takes control of it.

        Somebody who has it keeps it; it is tried again later.  Raises Ending where there is none.
        """
        with suppress(Unavailable, StoreUnavailable):
            if self._since is None or not await self.is_kept():
                await self._reserve(yields=True)

    async def give_back(self) -> None:
        """Have what runs on the machine interrupted, and what is held there released."""
        since, self._since, self._kept_at = self._since, None, None
        self._times_given_back += 1
        with suppress(StoreUnavailable):  # Then it runs out.
            if since is None:
                # It may be of a process that had the run before, or have come without an answer.
                left = await self._control.keep(*self._machine, self.lease_hash)
                since = left.since if left is not None else None
            if since is not None:
                # This may be carried out late: what the run has taken again by then stays.
                await self._control.release(*self._machine, self.lease_hash, since)

    async def _reserve(self, *, yields: bool) -> None:
        run, asked_at = self._run, asyncio.get_running_loop().time()
        by = f"run {run.id}"
        new = NewControl(self.lease_hash, by, run.token_id, is_run=True, yields=yields)
        try:
            reserved = await self._control.reserve(*self._machine, new)
        except RefusedError as error:
            refusal = error.refusal
            if refusal.kind is RefusalKind.CONTROL_HELD:
                # They had it before: the run waits for them for a while.
                raise Unavailable(refusal.detail) from None
            if refusal.kind is RefusalKind.UNKNOWN_MACHINE:
                raise Ending("error", "its machine was removed") from None
            raise Unavailable(refusal.detail) from None
        self._since = reserved.since
        if not yields:
            self._kept_at = asked_at


def taken_over(by: str) -> Halting:
    """Somebody has taken control of the machine."""
    return Halting("taken_over", f"{by} has taken control of the machine")
