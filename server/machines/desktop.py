"""How the desktop of a connected machine is, and since when; and who is told when it changes."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.link.messages import Capability, DesktopChanged, Display, Hello
from server.store.errors import StoreUnavailable
from server.store.machines import MachineStore

if TYPE_CHECKING:
    from server.machines.socket import LinkSocket

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 0.5
"""Between two publications of one machine's desktop, however often it changes."""


@dataclass(frozen=True, slots=True)
class LiveDesktop:
    """What a machine client last said of its desktop.

    ``input_since`` and ``screen_since`` say since when each is available, or is not: milliseconds
    since 1970.
    """

    displays: tuple[Display, ...]
    input: Capability
    screen: Capability
    input_since: int
    screen_since: int

    @classmethod
    def greeted(cls, hello: Hello, since: int) -> "LiveDesktop":
        """The desktop of a hello, on a link that is up since then."""
        return cls(tuple(hello.displays), hello.input, hello.screen, since, since)

    def changed_to(self, desktop: DesktopChanged, at: int) -> "LiveDesktop":
        """The desktop as it is said to be now."""
        had_input, had_screen = self.input.available, self.screen.available
        return LiveDesktop(
            tuple(desktop.displays),
            desktop.input,
            desktop.screen,
            self.input_since if desktop.input.available == had_input else at,
            self.screen_since if desktop.screen.available == had_screen else at,
        )

    @property
    def is_dark(self) -> bool:
        """Whether its screen should be seen and cannot."""
        return not (self.screen.available or self.screen.switched_off)


class DesktopPublisher:
    """Stores the displays of a desktop that has changed, and tells of it: at once the first time.

    What changes again soon waits for its turn, so that a machine client cannot keep the database
    or those who listen busy.
    """

    def __init__(self, machines: MachineStore, tell: "Callable[[LinkSocket], None]") -> None:
        self._machines = machines
        self._tell = tell
        self._publishing: set[LinkSocket] = set()

    def changed(self, link: "LinkSocket") -> None:
        """The desktop of this link is another now."""
        if link not in self._publishing:
            self._publishing.add(link)
            link.background.start_and_report(self._publish(link), "publish a desktop")

    async def _publish(self, link: "LinkSocket") -> None:
        published: LiveDesktop | None = None
        try:
            while link.desktop is not published and not link.is_over:
                published = link.desktop
                self._tell(link)
                await self._store(link)
                await asyncio.sleep(INTERVAL_SECONDS)
        finally:
            self._publishing.discard(link)

    async def _store(self, link: "LinkSocket") -> None:
        try:
            await self._machines.note_displays(
                link.organization_id, link.machine_id, link.epoch, link.desktop.displays
            )
        except StoreUnavailable as error:
            # They are shown all the same, and the next hello has them again.
            logger.warning("machine=%s its displays are not stored: %s", link.machine_id, error)
