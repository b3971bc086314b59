"""Watches a machine's screen for as long as it is recorded, on whichever link it has."""

import asyncio
from contextlib import suppress
from typing import Final

from schemas.inputs.pictures import PictureWanted
from server.clock import server_time
from server.dispatch.recording.frames import LIVE, SETTLED, Frames
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.privacy import NOBODY, PrivateError
from server.machines.screens import NotOnScreenError, ScreenUnavailableError, Viewer
from server.machines.socket import LinkSocket
from server.tasks import Tasks

AGAIN_SECONDS: Final = 1.0
"""After which a screen that could not be seen is looked at again."""

LOOK_SECONDS: Final = 2.0
BARE: Final = PictureWanted(format="jpeg", quality=LIVE.quality, pointer=False)


class Watching:
    """Fills `Frames` with what the screen of a link shows, until the link or this is over.

    ``is_settled`` is set when the first picture is there, or none is to be expected.
    """

    def __init__(self, link: LinkSocket, frames: Frames, background: Tasks) -> None:
        self._link = link
        self._frames = frames
        self.is_settled = asyncio.Event()
        self._background = background
        self._looking: asyncio.Task[None] | None = None
        self._is_pointer_drawn = self._is_resting = False
        self._watching = background.start_and_report(self._run(), "watch a recorded screen")

    def look_without_pointer(self) -> None:
        """Have a picture taken on which the pointer is not, where the desktop leaves it out.

        It is taken once the screen has had time to change, and not before whoever asks again.
        """
        if self._is_pointer_drawn:
            return
        if self._looking is not None and self._is_resting:
            self._looking.cancel()
        elif self._looking is not None and not self._looking.done():
            return
        self._is_resting = True
        self._looking = self._background.start_and_report(self._look(), "see below the pointer")

    def close(self) -> None:
        """Watch no more."""
        self._watching.cancel()
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        await asyncio.sleep(SETTLED / 1000)
        self._is_resting = False
        try:
            with suppress(
                *(LinkBusyError, LinkDownError, LinkLostError, TimeoutError),
                *(ScreenUnavailableError, PrivateError),
            ):
                async with self._link.privacy.look(NOBODY):
                    taken = await self._link.screen.screenshot(BARE, LOOK_SECONDS)
                self._frames.arrived_bare(taken)
        except NotOnScreenError:
            self._is_pointer_drawn = True

    async def _run(self) -> None:
        try:
            while not self._link.is_over:
                with suppress(LinkDownError, LinkBusyError):
                    await self._watch()
                self.is_settled.set()
                self._frames.ended(server_time())
                await asyncio.sleep(AGAIN_SECONDS)
        finally:
            self.is_settled.set()
            self._frames.ended(server_time())

    async def _watch(self) -> None:
        """Until the screen cannot be seen any more, if it can."""
        if self._link.desktop.why_no_screen is not None or self._link.privacy.is_private:
            return
        # Without a name: who records is told in another place than who looks.
        viewer: Viewer = self._link.screen.watch(LIVE)
        try:
            with suppress(ScreenUnavailableError, PrivateError):
                while True:
                    self._frames.arrived(await viewer.next())
                    self.is_settled.set()
        finally:
            viewer.close()
