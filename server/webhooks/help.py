"""Tells webhooks that a program asks people: which, about which machine, and not why."""

from typing import Final
from uuid import uuid5

from schemas.values.times import format_time
from server.store.help.requests import StoredHelp
from server.store.machines.pools import PoolStore
from server.store.webhooks.outbox import StoredDelivery
from server.store.webhooks.webhooks import WebhookStore
from server.webhooks.quiet import delivery_of

EVENT: Final = "help_requested"


class HelpDeliveries:
    """Makes what is to be posted of a request, to be stored together with it."""

    def __init__(self, webhooks: WebhookStore, pools: PoolStore) -> None:
        self._webhooks = webhooks
        self._pools = pools

    async def of(self, asked: StoredHelp) -> list[StoredDelivery]:
        """One for each webhook that is told of the machine.  The reason is in none."""
        data = {
            "help_id": str(asked.id),
            "machine_id": asked.machine_id,
            "kind": asked.kind,
            "expires_at": format_time(asked.expires_at),
        }
        made = []
        for webhook in await self._webhooks.of(asked.organization_id, EVENT):
            pools = webhook.pool_ids
            if not pools or await self._pools.has_member(
                asked.organization_id, pools, asked.machine_id
            ):
                delivery_id = uuid5(webhook.id, f"{EVENT}\n{asked.id}")
                made.append(delivery_of(webhook, EVENT, asked.created_at, data, delivery_id))
        return made
