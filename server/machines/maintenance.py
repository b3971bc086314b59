"""What keeps links honest as time passes: heartbeats, and what others decided of machines."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from server.errors import StoreUnavailable
from server.machines.admission import Admission
from server.machines.registry import LinkRegistry
from server.store.machines.controls import ControlStore

logger = logging.getLogger(__name__)

LOST_TICK_SECONDS = 1.0
"""When a link is ticked again that could not be."""

RESTRICTIONS_SECONDS = 0.7
"""A little less than the second after which a pause, or control, holds on every node."""


async def tick_links(registry: LinkRegistry) -> None:
    """Tick the links that are due, for ever; nothing else is waited for between."""
    loop, timers = asyncio.get_running_loop(), registry.timers
    while True:
        for link in timers.due(loop.time()):
            try:
                link.tick()
            except Exception:  # the others' heartbeats are to go on all the same
                logger.exception("machine=%s link could not be ticked", link.machine_id)
                timers.schedule(link, loop.time() + LOST_TICK_SECONDS)
            else:
                timers.schedule(link, link.due_at)
        await timers.until_due()


async def check_restrictions(
    registry: LinkRegistry,
    controls: ControlStore,
    admission: Admission,
    node_id: UUID,
    has_controlled: Callable[[], None],
) -> None:
    """Have the links keep to what was decided of machines and this node was not told, for ever.

    ``has_controlled`` is called at each look that finds a machine under control.
    """
    while True:
        await asyncio.sleep(RESTRICTIONS_SECONDS)
        try:
            restricted = await controls.restricted_of(node_id)
        except StoreUnavailable:
            continue  # Nobody can decide anything now either.
        if any(each.lease_hash is not None for each in restricted.values()):
            has_controlled()
        kept_to = registry.restricted.copy()
        for key in restricted.keys() | kept_to.keys():
            link = registry.find(*key)
            if link is not None and restricted.get(key) != kept_to.get(key):
                await admission.restrictions_changed(link)
