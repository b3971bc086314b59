"""Hubs of events for tests: that of a node alone, and those of several nodes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.resources.events import MachineRemoved
from server.bus.local_bus import LocalBus, LocalExchange
from server.events.event import Event, Subscription
from server.events.hub import EventHub
from server.events.memory_hub import MemoryEventHub
from server.events.shared_hub import SharedEventHub
from server.events.tags import event_tags
from server.store.event_log import EventLog
from server.store.mongodb.database import Database
from server.tasks import Tasks
from tests.store import ORGANIZATION
from tests.waiting import WAIT_SECONDS, until


def everything(_: Event) -> bool:
    """Wants every event."""
    return True


def publish(hub: EventHub, *names: str, organization_id: UUID = ORGANIZATION) -> None:
    """Tell of machines of these names."""
    for name in names:
        hub.publish(organization_id, "machine_removed", MachineRemoved(id=name), name)


async def settled(hub: EventHub) -> None:
    """Wait until all that was published has been told."""
    if isinstance(hub, SharedEventHub):
        await until(lambda: hub.waiting == 0)


async def heard(subscription: Subscription, many: int) -> list[Event]:
    """The next events, so many, however long they take."""
    found: list[Event] = []
    async with asyncio.timeout(WAIT_SECONDS):
        while len(found) < many:
            await subscription.wait(WAIT_SECONDS)
            found += subscription.take(many - len(found))
    return found


def names_of(events: list[Event]) -> list[str | None]:
    """Events by the machines' names."""
    return [event.machine_id for event in events]


@dataclass
class Node:
    """One of several nodes, as far as events go."""

    hub: SharedEventHub
    bus: LocalBus
    log: EventLog
    database: Database

    async def listen(self, last_event_id: str | None = None) -> Subscription:
        """Subscribe to everything."""
        return await self.hub.subscribe(ORGANIZATION, last_event_id, everything)


@asynccontextmanager
async def several_nodes(
    uri: str, name: str, count: int, *, uris: dict[int, str] | None = None, **settings: Any
) -> AsyncIterator[list[Node]]:
    """So many nodes with one database and one bus; ``uris`` are other ways to the database."""
    exchange = LocalExchange()
    async with AsyncExitStack() as ending:
        nodes: list[Node] = []
        for number in range(count):
            database = Database((uris or {}).get(number, uri), name, timeout=WAIT_SECONDS)
            ending.push_async_callback(database.finish)
            tasks = Tasks()
            bus = LocalBus(exchange, tasks)
            log = EventLog(database)
            hub = SharedEventHub(
                log, bus, tasks, prefix="test.events", tag_of=event_tags(b"secret"), **settings
            )
            tasks.supervise(hub.run, "hear events")
            ending.push_async_callback(tasks.close, 0)
            ending.callback(hub.close)
            nodes.append(Node(hub, bus, log, database))
        yield nodes


@asynccontextmanager
async def one_hub(kind: str, uri: str, name: str, **settings: Any) -> AsyncIterator[EventHub]:
    """A hub of that kind: ``memory`` or ``shared``."""
    if kind == "memory":
        yield MemoryEventHub(**settings)
    else:
        async with several_nodes(uri, name, 1, **settings) as (node,):
            yield node.hub
