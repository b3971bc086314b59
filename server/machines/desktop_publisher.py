"""Stores and tells how desktops change, however often they do."""

import asyncio
import logging
from collections.abc import Callable

from server.errors import StoreUnavailable
from server.machines.link.desktop import DesktopState
from server.machines.socket import LinkSocket
from server.store.machines.machines import MachineStore
from server.tasks import Tasks

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 0.5
"""Between two publications of one machine's desktop, however often it changes."""


class DesktopPublisher:
    """Stores the displays of a desktop that has changed, and tells of it: at once the first time.

    What changes again soon waits for its turn, so that a machine client cannot keep the database
    or those who listen busy.
    """

    def __init__(
        self, machines: MachineStore, publish: Callable[[LinkSocket], None], background: Tasks
    ) -> None:
        self._machines = machines
        self._publish_link = publish
        self._background = background
        self._publishing: set[LinkSocket] = set()

    def changed(self, link: LinkSocket) -> None:
        """The desktop of this link is another now."""
        if link not in self._publishing:
            self._publishing.add(link)
            self._background.start_and_report(self._publish(link), "publish a desktop")

    async def _publish(self, link: LinkSocket) -> None:
        published: DesktopState | None = None
        try:
            while link.desktop is not published and not link.is_over:
                published = link.desktop
                self._publish_link(link)
                await self._store(link)
                await asyncio.sleep(INTERVAL_SECONDS)
        finally:
            self._publishing.discard(link)

    async def _store(self, link: LinkSocket) -> None:
        try:
            await self._machines.note_displays(
                link.organization_id, link.machine_id, link.epoch, link.desktop.displays
            )
        except StoreUnavailable as error:
            # They are shown all the same, and the next hello has them again.
            logger.warning("machine=%s its displays are not stored: %s", link.machine_id, error)
