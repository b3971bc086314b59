"""Tells webhooks of machines that are gone, and of those that are back.

Every node looks, and one of them tells each outage: under an id that is made of the webhook, the
machine and the time, so that it is the same whoever tells it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from uuid import UUID, uuid5

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.resources.webhooks import ExpectedOffline, NewExpectedOffline
from schemas.values.times import format_time
from server.errors import StoreUnavailable
from server.store.machines.pools import PoolStore, StoredPool
from server.store.times import now
from server.store.webhooks.outages import Expected, OutageStore, Owed
from server.store.webhooks.outbox import StoredDelivery
from server.store.webhooks.webhooks import StoredWebhook, WebhookStore
from server.webhooks.delivering import Delivering
from server.webhooks.quiet import delivery_of

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 2.0

LONGEST_EXPECTED: Final = timedelta(days=30)

COUNT_SECONDS: Final = 15.0
"""Between two counts, for metrics."""

MOST_ALONE: Final = 10
"""Where more go together, they are told in one delivery."""

TOGETHER: Final = timedelta(seconds=60)
"""Within which they go together: a network that fails takes its machines one after another."""

_MOST_BYTES: Final = 64 * 1024
"""Of machines in one delivery: several in a digest are a document of MongoDB."""


class Outages:
    """Looks for what is owed, for ever.  ``after`` is how long a machine may be away untold.

    ``alone_as`` is this node, where it is the only one: links of others have ended then.
    """

    def __init__(
        self,
        outages: OutageStore,
        webhooks: WebhookStore,
        pools: PoolStore,
        delivering: Delivering,
        *,
        after: timedelta,
        alone_as: UUID | None,
    ) -> None:
        self._outages = outages
        self._webhooks = webhooks
        self._pools = pools
        self._delivering = delivering
        self._after = after
        self._alone_as = alone_as
        self.missing: Mapping[UUID, int] = {}

    async def run(self) -> None:
        """Tell whatever is owed, for ever."""
        counted_at = time.monotonic() - COUNT_SECONDS
        while True:
            try:
                if self._alone_as is not None:
                    await self._outages.note_lost(self._alone_as)
                    self._alone_as = None
                await self.look()
                if time.monotonic() - counted_at >= COUNT_SECONDS:
                    counted_at = time.monotonic()
                    await self.count()
            except StoreUnavailable as error:
                logger.warning("webhooks: nobody is told of machines that are gone: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def expect(
        self, organization_id: UUID, machine_id: str, new: NewExpectedOffline, *, by: str
    ) -> ExpectedOffline:
        """Tell of a machine only where it is away after some time.

        Raises a validation error for one that is past, or far off, and a ``404`` problem.
        """
        if not now() < new.until <= now() + LONGEST_EXPECTED:
            raise InvalidRequestError.single(
                ("body", "until"),
                f"must lie in the future, within {LONGEST_EXPECTED.days} days from now",
                "future_time",
            )
        expected = Expected(new.until, new.reason, by)
        if not await self._outages.expect(organization_id, machine_id, expected):
            raise _unknown(machine_id)
        return ExpectedOffline(machine_id=machine_id, **vars(expected))

    async def expect_no_more(self, organization_id: UUID, machine_id: str) -> None:
        """Tell of a machine as of any other.  Raises a ``404`` problem."""
        if not await self._outages.expect(organization_id, machine_id, None):
            raise _unknown(machine_id)

    async def expected(self, organization_id: UUID, machine_id: str) -> ExpectedOffline:
        """Until when a machine may be away.  Raises a ``404`` problem where it may not."""
        found = await self._outages.expected(organization_id, machine_id)
        if found is None or found.until <= now():
            raise ProblemError(
                problems.NOT_FOUND, f"there is no machine {machine_id} that may be away"
            )
        return ExpectedOffline(machine_id=machine_id, **vars(found))

    async def count(self) -> None:
        """Count for metrics: ``missing`` says of which pool how many machines are away."""
        self.missing = await self._outages.missing()

    async def look(self) -> None:
        """Tell once what is owed by now."""
        owed = sorted(await self._outages.owed(), key=lambda each: each.organization_id)
        for organization_id, some in groupby(owed, key=lambda each: each.organization_id):
            await self._tell(organization_id, list(some))

    async def _tell(self, organization_id: UUID, owed: Sequence[Owed]) -> None:
        moment = now()
        ids = {pool_id for each in owed for pool_id in each.pools}
        pools = {each.id: each for each in await self._pools.some(organization_id, ids)}
        delays = self._delays(pools)
        back = [each for each in owed if each.is_back]
        gone = due([each for each in owed if not each.is_back], delays, moment)
        for event, machines in (("machine_offline", gone), ("machine_online", back)):
            if not machines:
                continue
            deliveries = await self._deliveries(organization_id, event, machines, pools)
            if await self._outages.tell(machines, deliveries) and deliveries:
                await self._delivering.make_room(organization_id)

    def _delays(self, pools: Mapping[UUID, StoredPool]) -> Callable[[Owed], timedelta]:
        """How long each machine may be away: what the strictest of its pools says."""

        def delay(machine: Owed) -> timedelta:
            of_pools = [pools[each].offline_after for each in machine.pools if each in pools]
            said = [each for each in of_pools if each is not None]
            return timedelta(seconds=min(said)) if said else self._after

        return delay

    async def _deliveries(
        self,
        organization_id: UUID,
        event: str,
        machines: Sequence[Owed],
        pools: Mapping[UUID, StoredPool],
    ) -> list[StoredDelivery]:
        names = {pool_id: pool.name for pool_id, pool in pools.items()}
        views = {each.machine_id: _view(each, names) for each in machines}
        made, moment = [], now()
        for webhook in await self._webhooks.of(organization_id, event):
            concerned = [each for each in machines if _concerns(webhook, each)]
            for some in portions(concerned, lambda each: _bytes_of(views[each.machine_id])):
                data = {"total": len(some), "machines": [views[each.machine_id] for each in some]}
                delivery_id = _id(webhook.id, event, some)
                made.append(delivery_of(webhook, event, moment, data, delivery_id))
        return made


def due(gone: Sequence[Owed], delay: Callable[[Owed], timedelta], moment: datetime) -> list[Owed]:
    """Those that are to be told of now; where many go, none before most of them are."""
    at = [(max(each.since + delay(each), each.expected_until or each.since), each) for each in gone]
    ready = [each for due_at, each in at if due_at <= moment]
    coming = [each for due_at, each in at if moment < due_at <= moment + TOGETHER]
    is_waited_for = ready and min(due_at for due_at, _ in at) > moment - TOGETHER
    if coming and is_waited_for and len(ready) + len(coming) > MOST_ALONE:
        return []
    return ready


def portions(machines: Sequence[Owed], bytes_of: Callable[[Owed], int]) -> Iterator[Sequence[Owed]]:
    """What is told in one delivery: few machines each alone, many together in so many bytes."""
    most = 0 if len(machines) <= MOST_ALONE else _MOST_BYTES
    some: list[Owed] = []
    filled = 0
    for machine in machines:
        length = bytes_of(machine)
        if some and filled + length > most:
            yield some
            some, filled = [], 0
        some.append(machine)
        filled += length
    if some:
        yield some


def _unknown(machine_id: str) -> ProblemError:
    return ProblemError(problems.NOT_FOUND, f"there is no machine {machine_id}")


def _concerns(webhook: StoredWebhook, machine: Owed) -> bool:
    return not webhook.pool_ids or not set(webhook.pool_ids).isdisjoint(machine.pools)


def _id(webhook_id: UUID, event: str, machines: Sequence[Owed]) -> UUID:
    outages = [f"{each.machine_id} {format_time(each.since)}" for each in machines]
    return uuid5(webhook_id, "\n".join([event, *outages]))


def _bytes_of(view: Mapping[str, Any]) -> int:
    return len(json.dumps(view, ensure_ascii=False).encode())


def _view(machine: Owed, names: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "machine_id": machine.machine_id,
        "name": machine.name,
        "since": format_time(machine.since),
        "reason": machine.reason,
        "pools": [
            {"id": str(each), "name": names[each]} for each in machine.pools if each in names
        ],
    }
