"""How a run ends: once, together with what webhooks are told of it."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from schemas.runs.runs import KEPT_DAYS, Run, RunStatus
from server.fleet.lasting_rights import WhyNoRight
from server.runs.views import run_view
from server.store.runs.documents import StoredRun
from server.store.times import now
from server.store.transactions import Transaction, Transactions
from server.store.webhooks.outbox import Outbox, StoredDelivery

MakeDeliveries = Callable[[StoredRun], Awaitable[Sequence[StoredDelivery]]]
"""Makes what webhooks are told of a run that ends."""

KEPT: Final = timedelta(days=KEPT_DAYS)

MACHINE_REMOVED: Final = "its machine was removed"


def why_no_right(why: WhyNoRight, by: str) -> str:
    """Why a run ends that was begun with the token of this name, for people."""
    if why == "token":
        return f"the token {by}, which began it, is not valid any more"
    return f"its machine is in no pool of the token {by}, which began it, any more"


class RunEnding:
    """Ends runs; ``told`` hears of each, ``ended`` counts those of this node.

    ``withdraw_help`` takes back what people are still asked for one.
    """

    def __init__(
        self,
        transactions: Transactions,
        outbox: Outbox,
        deliveries: MakeDeliveries,
        withdraw_help: Callable[[StoredRun], Awaitable[None]],
        told: Callable[[StoredRun, Run], None],
    ) -> None:
        self._transactions = transactions
        self._outbox = outbox
        self._deliveries = deliveries
        self._withdraw_help = withdraw_help
        self._told = told
        self.ended: Counter[RunStatus] = Counter()

    async def end(
        self, run: StoredRun, owner: UUID | None, status: RunStatus, error: str | None = None
    ) -> StoredRun | None:
        """End a run that its owner works at, or without one nobody; None where that is not so."""
        moment = now()
        changes = {
            "status": status,
            "error": error,
            "ended_at": moment,
            "halted": None,
            "lease": None,
            "wants_turn": False,
            "wanted": None,
            "delete_at": moment + KEPT,
        }
        ended = replace(
            run,
            status=status,
            error=error,
            ended_at=moment,
            halted=None,
            wanted=None,
            reserves=None,
            sealed=None,
        )
        deliveries = await self._deliveries(ended)
        # Before: nobody would find one that was left by a node that is killed in between.
        await self._withdraw_help(run)

        async def work(transaction: Transaction) -> bool:
            return await transaction.runs.end(run.id, owner, changes, self._outbox, deliveries)

        if not await self._transactions.run(work):
            return None
        self.ended[status] += 1
        self.tell(ended)
        if deliveries:
            await self._outbox.make_room(run.organization_id)
        return ended

    def tell(self, run: StoredRun) -> None:
        """Tell whoever listens how a run is now."""
        self._told(run, run_view(run))
