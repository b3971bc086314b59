"""Holds what lists need of machines, and brings it up to date for each that is asked for.

A machine's state is partly in the database (paused, linked, when and why not) and partly known to
its link alone.  So neither an index nor a query can answer, and to read all machines for each list
would take a tenth of a second for ten thousand.  Their rows are held instead, filed by what lists
are filtered by: before each list the database's index of changes says which of them are others
now, on whichever node that was done, so a list shows whatever was answered before it was asked
for; only what took the database more than three seconds may come half a minute late.  Links say
themselves which are not simply connected; of other nodes that is one short question.
"""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from schemas.resources.machine_lists import MachineFilter, MachineSort
from server.dispatch.live_machines import LiveMachines
from server.fleet.lists.index import Index
from server.fleet.lists.moment import Moment
from server.fleet.lists.questions import EVERYTHING, Found, Window, answered, asks_for_states
from server.fleet.lists.rows import row_of
from server.fleet.pools import Pools
from server.store.machines.rows import LATEST, SOON, MachineRowStore, StoredRow

MOST_HELD: Final = 100_000
"""Machines of all organizations; those of the one that is asked for are held however many."""

LOOK_BACK_SECONDS: Final = 30.0
"""Between two readings of all changes that may have become visible late: after a restart of the
fleet those of all its machines, which take twenty milliseconds for ten thousand."""

_MOST_FORGOTTEN: Final = 1000

_MOST_PUT_IN_PLACE: Final = 0.01
"""Of the rows: where more have changed, sorting all again takes less than a place for each."""


class _Held:
    """The rows of one organization; ``changes`` has the change that each was read after.

    ``seen_until`` is when it was brought up to date last, by MongoDB's clock; None where not all
    machines were read.
    """

    def __init__(self) -> None:
        self.reading = asyncio.Lock()
        self.clear(None)

    def clear(self, clock: object) -> None:
        """Begin from nothing; ``clock`` is whose marks changes."""
        self.index = Index()
        self.changes: dict[str, int] = {}
        self.seen_until: datetime | None = None
        self._newest: tuple[datetime, float] | None = None
        self._clock, self._clock_since = clock, -math.inf
        self._looked_back_at = -math.inf

    def take(self, stored: Sequence[StoredRow]) -> None:
        """Take what was read in place of what was held of the same machines."""
        if len(stored) > _MOST_PUT_IN_PLACE * len(self.index.rows):
            self.index.forget_orders()
        for each in stored:
            self.changes[each.machine_id] = each.change_id
            if each.machine is None:
                self.index.remove(each.machine_id)
            else:
                self.index.put(row_of(each.machine))
            if self._newest is None or each.changed_at > self._newest[0]:
                self._newest = each.changed_at, time.monotonic()

    def is_to_look_back(self, began: float, clock: object) -> bool:
        """Whether changes may be new that are marked long before what was read last."""
        if clock is not None and clock != self._clock:
            self._clock, self._clock_since = clock, began
        is_clock_new = began - self._clock_since < LATEST.total_seconds()
        return is_clock_new or began - self._looked_back_at >= LOOK_BACK_SECONDS

    def since(self, seen_until: datetime, *, looks_back: bool) -> datetime:
        """From when on a change may be new."""
        if not looks_back:
            return seen_until - SOON
        return seen_until - timedelta(seconds=self._read_at - self._looked_back_at) - LATEST

    def has_seen_all(self, began: float, *, looked_back: bool) -> None:
        """Everything was read that was there at this time of the monotonic clock."""
        self._read_at = began
        if looked_back:
            self._looked_back_at = began
        if self._newest is not None:
            newest, read_at = self._newest
            self.seen_until = newest + timedelta(seconds=began - read_at)
        if len(self.changes) > len(self.index.rows) + _MOST_FORGOTTEN:
            self.changes = {each: self.changes[each] for each in self.index.rows}

    @property
    def nodes(self) -> Sequence[UUID]:
        """Those that have links, as far as the database knows."""
        return [UUID(hex=each) for each in self.index.by_node]


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
        window: Window = EVERYTHING,
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
        held, moment = await self._up_to_date(organization_id), None
        if asks_for_states(wanted, sort, counts=counts):
            troubled = await self._live.troubled(organization_id, held.nodes)
            moment = Moment(held.index, troubled)
        return answered(
            held.index, moment, wanted, pools, sort, window, counts=counts, within=within
        )

    async def _up_to_date(self, organization_id: UUID) -> _Held:
        held = self._held.setdefault(organization_id, _Held())
        self._held.move_to_end(organization_id)
        # One after another, each after whatever was answered before it was asked for.
        async with held.reading:
            began = time.monotonic()
            if held.seen_until is None:
                held.clear(self._rows.clock)
                await self._rows.all(organization_id, held.take)
                held.has_seen_all(began, looked_back=True)
            else:
                await self._read_changes(organization_id, held, held.seen_until, began)
        self._forget_what_is_too_much()
        return held

    async def _read_changes(
        self, organization_id: UUID, held: _Held, seen_until: datetime, began: float
    ) -> None:
        looks_back = held.is_to_look_back(began, self._rows.clock)
        since = held.since(seen_until, looks_back=looks_back)
        changes = await self._rows.changes(organization_id, since)
        if not looks_back and held.is_to_look_back(began, self._rows.clock):
            # Another member took over before it answered, and its clock may be behind.
            looks_back = True
            since = held.since(seen_until, looks_back=True)
            changes = await self._rows.changes(organization_id, since)
        outdated = [each for each in changes if held.changes.get(each) != changes[each]]
        await self._rows.some(organization_id, outdated, held.take)
        held.has_seen_all(began, looked_back=looks_back)

    def _forget_what_is_too_much(self) -> None:
        count = sum(len(each.index.rows) for each in self._held.values())
        while count > MOST_HELD and len(self._held) > 1:
            _, forgotten = self._held.popitem(last=False)
            count -= len(forgotten.index.rows)
