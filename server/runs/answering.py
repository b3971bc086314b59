"""What people answer to a halted run that keeps no node any more.

While a node works at a run it sees the answer by itself.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from schemas.help.requests import HelpRequest
from schemas.runs.runs import Halted
from server.runs.ending import RunEnding
from server.runs.halting import RunHalts
from server.runs.stops import Ending
from server.store.runs.runs import RunStore, UnattendedRun
from server.store.transactions import Transactions


class ParkedAnswers:
    """Has runs wait for their turn, or end, as they were answered."""

    def __init__(
        self,
        store: RunStore,
        transactions: Transactions,
        halts: RunHalts,
        ending: RunEnding,
    ) -> None:
        self._store = store
        self._transactions = transactions
        self._halts = halts
        self._ending = ending

    async def apply(self, organization_id: UUID, run_id: UUID) -> None:
        """Do what was answered about a run, if nobody else does.  Raises StoreUnavailable."""
        run = await self._store.parked(organization_id, run_id)
        if run is None or run.halted is None:
            return
        try:
            changes = answered(run.halted, await self._halts.request(run))
        except Ending as end:
            await self._ending.end(run, None, end.status, end.why)
            return
        if changes is None:
            return
        resumed = await self._transactions.run(lambda writes: writes.runs.resume(run, changes))
        if resumed is not None:
            self._ending.tell(resumed)

    async def apply_among(self, runs: Sequence[UnattendedRun]) -> None:
        """Do what was answered about any of these, and was not done.  Raises StoreUnavailable."""
        asked = {run.help_id: run for run in runs if run.help_id is not None}
        for help_id in await self._halts.answered_among(asked.keys()):
            await self.apply(asked[help_id].organization_id, asked[help_id].id)


def answered(halted: Halted, asked: HelpRequest | None) -> dict[str, Any] | None:
    """What changes of a run by the answer about its halt; None where it stays halted.

    Raises Ending where nobody can help.
    """
    if asked is None or asked.state != "answered":
        return None
    if asked.answer == "cannot":
        raise Ending("task_failed", f"{asked.answered_by} cannot help: {asked.comment or '-'}")
    if halted.is_unknown:
        return None
    return {"attempt": None} if halted.is_try_over else {}
