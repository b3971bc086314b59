"""Tells webhooks that a run has ended: which, how, on which machine, and no value of it."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID, uuid5

from schemas.values.times import format_time
from server.store.machines.pools import PoolStore
from server.store.runs.documents import StoredRun
from server.store.times import now
from server.store.webhooks.outbox import StoredDelivery
from server.store.webhooks.webhooks import WebhookStore
from server.webhooks.quiet import delivery_of

EVENT: Final = "run_complete"


class RunDeliveries:
    """Makes what is to be posted of a run, to be stored together with its end."""

    def __init__(self, webhooks: WebhookStore, pools: PoolStore) -> None:
        self._webhooks = webhooks
        self._pools = pools

    async def of(self, run: StoredRun) -> list[StoredDelivery]:
        """One for each webhook that is told of the machine."""
        ended_at = run.ended_at or now()
        data = {
            "run_id": str(run.id),
            "workflow_id": str(run.workflow_id),
            "trajectory_id": str(run.trajectory_id),
            "machine_id": run.machine_id,
            "status": run.status,
            "ended_at": format_time(ended_at),
        }
        made = []
        for webhook in await self._webhooks.of(run.organization_id, EVENT):
            if not webhook.pool_ids or await self._is_in(run, webhook.pool_ids):
                delivery_id = uuid5(webhook.id, f"{EVENT}\n{run.id}")
                made.append(delivery_of(webhook, EVENT, ended_at, data, delivery_id))
        return made

    async def _is_in(self, run: StoredRun, pools: Sequence[UUID]) -> bool:
        """Whether its machine is in one of the pools, or it waited for one of them."""
        if run.machine_id is None:
            return not set(pools).isdisjoint(run.pool_ids or ())
        return await self._pools.has_member(run.organization_id, pools, run.machine_id)
