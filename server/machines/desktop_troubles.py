"""Notes in which times the desktops of connected machines took no input, or could not be seen."""

import logging
from typing import Protocol
from uuid import UUID

from server.clock import from_milliseconds, server_time
from server.errors import StoreUnavailable
from server.machines.link.availability import DesktopTrouble
from server.machines.socket import LinkSocket
from server.store.machines.troubles import StoredTrouble
from server.tasks import Tasks

logger = logging.getLogger(__name__)


class Troubles(Protocol):
    """Where what is over is kept."""

    async def add(self, organization_id: UUID, machine_id: str, trouble: StoredTrouble) -> None:
        """Keep it for a while.  Raises StoreUnavailable."""


class DesktopTroubles:
    """Told of each change of a link, notes the trouble that it has ended.

    How often that may be, who tells it says; nothing is noted of a machine that is well.
    """

    def __init__(self, store: Troubles, background: Tasks) -> None:
        self._store = store
        self._background = background

    def look(self, link: LinkSocket) -> None:
        """A link, or its machine's desktop, is another now, or was just looked at."""
        trouble = None if link.is_over else link.availability.trouble
        before, link.trouble = link.trouble, trouble
        if before is not None and (trouble is None or before[:2] != trouble[:2]):
            self._background.start_and_report(self._note(link, before), "note a trouble")

    async def _note(self, link: LinkSocket, trouble: DesktopTrouble) -> None:
        over = StoredTrouble(
            trouble.kind,
            trouble.reason,
            from_milliseconds(trouble.since),
            from_milliseconds(server_time()),
        )
        try:
            await self._store.add(link.organization_id, link.machine_id, over)
        except StoreUnavailable as error:
            logger.warning("machine=%s a trouble is not noted: %s", link.machine_id, error)
