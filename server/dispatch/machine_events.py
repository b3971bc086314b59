"""Publishes every machine that has changed, as it is by then, and what one has released."""

import asyncio
import logging
from uuid import UUID

from schemas.link.messages import Released
from schemas.resources.events import MachineReleased, MachineRemoved
from server.dispatch.machine_views import MachineViews
from server.events.hub import EventHub
from server.store.errors import StoreUnavailable
from server.store.machines import MachineStore
from server.tasks import Tasks

logger = logging.getLogger(__name__)

RETRY_SECONDS = 0.5


class MachineEventPublisher:
    """Hears which machine has changed, and tells how it is now.

    All machines are read and told by one task, one after another: what is told last of a machine
    was read after its last change.
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
            key = next(iter(self._changed))
            del self._changed[key]
            try:
                await self._publish(*key)
            except StoreUnavailable as error:
                logger.warning("machine=%s a change is told later: %s", key[1], error)
                self._changed[key] = None
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:  # the others' changes are to be told all the same
                logger.exception("machine=%s a change could not be told", key[1])

    async def _publish(self, organization_id: UUID, machine_id: str) -> None:
        stored = await self._machines.get(organization_id, machine_id)
        if stored is None:
            removed = MachineRemoved(id=machine_id)
            self._events.publish(organization_id, "machine_removed", removed, machine_id)
        else:
            view = await self._views.of(stored)
            self._events.publish(organization_id, "machine", view, machine_id)
