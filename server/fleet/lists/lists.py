"""Holds what lists need of machines, and brings it up to date for each that is asked for.

A machine's state is partly in the database (paused, linked, when and why not) and partly known to
its link alone.  So neither an index nor a query can answer, and to read all machines for each list
would take a tenth of a second for ten thousand.  Their rows are held instead: before each list the
index of changes says which of them are others now, on whichever node that was done, so a list
shows whatever was answered before it was asked for.  Links say themselves which are not simply
connected; of other nodes that is one short question.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from schemas.resources.machine_lists import MachineFilter, MachineSort
from server.dispatch.live_machines import LiveMachines
from server.fleet.lists.questions import ORDERS, Found, answered, held_order
from server.fleet.lists.rows import LiveStates, Row, row_of
from server.fleet.pools import Pools
from server.store.machines.rows import LATEST, MachineRowStore, StoredRow

MOST_HELD: Final = 100_000
"""Machines of all organizations; those of the one that is asked for are held however many."""

_MOST_FORGOTTEN: Final = 1000


class _Held:
    """The rows of one organization; ``changes`` has the change that each was read after."""

    def __init__(self) -> None:
        self.reading = asyncio.Lock()
        self.rows: dict[str, Row] = {}
        self.changes: dict[str, int] = {}
        self.newest: datetime | None = None
        self._newest_at = 0.0
        self.nodes: frozenset[UUID] = frozenset()
        self._orders: dict[str, Sequence[Row]] = {}

    def take(self, stored: Sequence[StoredRow]) -> None:
        """Take what was read in place of what was held of the same machines."""
        for each in stored:
            self.changes[each.machine_id] = each.change_id
            if each.machine is None:
                self.rows.pop(each.machine_id, None)
            else:
                self.rows[each.machine_id] = row_of(each.machine)
            if self.newest is None or each.changed_at > self.newest:
                self.newest, self._newest_at = each.changed_at, time.monotonic()
        if stored:
            self._orders.clear()
            nodes = {row.node for row in self.rows.values() if row.node is not None}
            self.nodes = frozenset(UUID(bytes=node) for node in nodes)
        if len(self.changes) > len(self.rows) + _MOST_FORGOTTEN:
            self.changes = {each: self.changes[each] for each in self.rows}

    def known_until(self, newest: datetime) -> datetime:
        """By MongoDB's clock, before which every change was seen, or is seen by asking now."""
        passed = timedelta(seconds=time.monotonic() - self._newest_at)
        return newest + passed - LATEST

    def in_order(self, order: str) -> Sequence[Row]:
        """The rows in one of the `ORDERS`."""
        if order not in self._orders:
            self._orders[order] = sorted(self.rows.values(), key=ORDERS[order])
        return self._orders[order]


class MachineLists:
    """Finds the machines of the organization it is given, and no others."""

    def __init__(self, rows: MachineRowStore, live: LiveMachines, pools: Pools) -> None:
        self._rows = rows
        self._live = live
        self._pools = pools
        self._held: OrderedDict[UUID, _Held] = OrderedDict()

    async def find(
        self,
        organization_id: UUID,
        wanted: MachineFilter,
        sort: MachineSort = "id",
        *,
        counts: bool = False,
        within: frozenset[UUID] | None = None,
    ) -> Found:
        """The machines that fit.  Raises a validation error for a pool that is not there.

        Where ``within`` has pools, no machine and no pool beside them exists.
        """
        pools = None
        if wanted.pool is not None:
            pools = await self._pools.named(organization_id, wanted.pool, within)
        held = await self._up_to_date(organization_id)
        states = LiveStates(await self._live.troubled(organization_id, held.nodes))
        rows = held.in_order(held_order(sort))
        if within is not None:
            ids = {each.bytes for each in within}
            rows = [row for row in rows if not ids.isdisjoint(row.pools)]
        return answered(rows, states, wanted, pools, sort, counts=counts)

    async def _up_to_date(self, organization_id: UUID) -> _Held:
        held = self._held.setdefault(organization_id, _Held())
        self._held.move_to_end(organization_id)
        # One after another, each after whatever was answered before it was asked for.
        async with held.reading:
            if held.newest is None:
                held.take(await self._rows.all(organization_id))
            else:
                since = held.known_until(held.newest)
                changes = await self._rows.changes(organization_id, since)
                outdated = [each for each in changes if held.changes.get(each) != changes[each]]
                held.take(await self._rows.some(organization_id, outdated))
        self._forget_what_is_too_much()
        return held

    def _forget_what_is_too_much(self) -> None:
        count = sum(len(each.rows) for each in self._held.values())
        while count > MOST_HELD and len(self._held) > 1:
            _, forgotten = self._held.popitem(last=False)
            count -= len(forgotten.rows)
