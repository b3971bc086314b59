"""Publishes every machine that has changed, as it is by then, and what one has released."""

import asyncio
import logging
from functools import partial
from itertools import islice
from uuid import UUID

from pydantic import BaseModel

from schemas.link.messages import Released
from schemas.resources.events import EventType, MachineReleased, MachineRemoved
from server.dispatch.machine_views import MachineViews
from server.errors import StoreUnavailable
from server.events.hub import EventHub
from server.store.machines.machines import MachineStore
from server.tasks import Tasks

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.5

AT_ONCE = 100
"""So many machines are read at once, which takes few queries."""


class MachineEventPublisher:
    """Hears which machine has changed, and tells how it is now.

    All machines are handed to the hub by one task, some at once.  The hub reads them when it
    tells them: what is told last of a machine was read after its last change, on whichever node.
    """

    def __init__(
        self,
        machines: MachineStore,
        views: MachineViews,
        events: EventHub,
        background: Tasks,
    ) -> None:
        self._machines = machines
        self._views = views
        self._events = events
        self._background = background
        # One entry for each machine, however often it changes before its turn.
        self._changed: dict[tuple[UUID, str], None] = {}
        self._publishing: asyncio.Task[None] | None = None

    def changed(self, organization_id: UUID, machine_id: str) -> None:
        """Something about a machine has changed, or it was removed."""
        if self._events.is_closed:
            return  # Nobody hears it, and the database is about to be closed.
        self._changed[organization_id, machine_id] = None
        if self._publishing is None or self._publishing.done():
            self._publishing = self._background.start_and_report(
                self._publish_all(), "tell of changed machines"
            )

    def released(self, organization_id: UUID, machine_id: str, released: Released) -> None:
        """A machine has released what a killed machine client had left pressed: log and tell it."""
        logger.warning(
            "machine=%s released what a killed machine client had left pressed: buttons=%s keys=%d",
            machine_id,
            ",".join(released.buttons) or "none",
            released.keys,
        )
        if not self._events.is_closed:
            told = MachineReleased(id=machine_id, **released.model_dump())
            self._events.publish(organization_id, "machine_released", told, machine_id)

    async def _publish_all(self) -> None:
        while self._changed:
            # Each machine is among them once: what is told last of it was read last.
            keys = tuple(islice(self._changed, AT_ONCE))
            for key in keys:
                del self._changed[key]
            results = await asyncio.gather(
                *(self._publish(*key) for key in keys), return_exceptions=True
            )
            for key, result in zip(keys, results, strict=True):
                if isinstance(result, Exception):
                    self._could_not_tell(key, result)
            if any(isinstance(result, StoreUnavailable) for result in results):
                await asyncio.sleep(RETRY_SECONDS)

    def _could_not_tell(self, key: tuple[UUID, str], error: Exception) -> None:
        """The others' changes are told all the same."""
        if isinstance(error, StoreUnavailable):
            logger.warning("machine=%s a change is told later: %s", key[1], error)
            self._changed[key] = None
        else:
            logger.error("machine=%s a change could not be told", key[1], exc_info=error)

    async def _publish(self, organization_id: UUID, machine_id: str) -> None:
        read = partial(self._read, organization_id, machine_id)
        await self._events.publish_machine(organization_id, machine_id, read)

    async def _read(self, organization_id: UUID, machine_id: str) -> tuple[EventType, BaseModel]:
        stored = await self._machines.get_together(organization_id, machine_id)
        if stored is None:
            return "machine_removed", MachineRemoved(id=machine_id)
        return "machine", await self._views.of(stored)
