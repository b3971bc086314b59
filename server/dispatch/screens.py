"""What a connected machine's screen shows, or the problem that says why it cannot be seen."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.link.messages import DesktopSeen
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions, ScreenshotOptions
from server.dispatch.refusals import busy, just_disconnected, no_screen
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.screens import MachineScreen, ScreenUnavailableError
from server.machines.socket import LinkSocket

ANSWER_SECONDS = 15.0
"""For a machine to answer a question about its screen, or to send a live screen's first picture."""

Answer = TypeVar("Answer")


async def screenshot(link: LinkSocket, options: ScreenshotOptions) -> Picture:
    """A picture of the screen as it is now, or a problem."""
    return await _asked(link, lambda screen: screen.screenshot(options, ANSWER_SECONDS))


async def look(link: LinkSocket) -> DesktopSeen:
    """The displays and the pointer as they are now, or a problem."""
    return await _asked(link, lambda screen: screen.look(ANSWER_SECONDS))


async def _asked(
    link: LinkSocket, question: Callable[[MachineScreen], Awaitable[Answer]]
) -> Answer:
    check_screen(link)
    try:
        return await question(link.screen)
    except ScreenUnavailableError as error:
        raise no_screen(str(error), error.since or _since(link)) from None
    except LinkBusyError:
        raise busy("questions about its screen as it may") from None
    except (LinkDownError, LinkLostError):
        raise just_disconnected() from None
    except TimeoutError:
        raise no_screen(f"it did not answer within {ANSWER_SECONDS:g} s", _since(link)) from None


class LiveScreen:
    """One who watches a machine's screen: begins with it, and is closed at the end.

    Raises a problem where the link is down.  ``rate`` is pictures a second, at most.
    """

    def __init__(self, link: LinkSocket, options: LiveOptions) -> None:
        self._link = link
        self.rate = options.rate
        try:
            self._viewer = link.screen.watch(options)
        except LinkDownError:
            raise just_disconnected() from None

    @property
    def why_over(self) -> str | None:
        """Why there will be no further pictures; None while there will."""
        return self._viewer.why_over

    async def first(self) -> Picture:
        """The first picture, or a problem that says why there is none."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._viewer.next()
        except ScreenUnavailableError as error:
            raise no_screen(str(error), error.since or _since(self._link)) from None
        except TimeoutError:
            raise no_screen(
                f"it sent no picture within {ANSWER_SECONDS:g} s", _since(self._link)
            ) from None

    async def next(self, timeout: float) -> Picture | None:
        """The newest picture that was not had yet; None where none comes in time, or any more."""
        try:
            async with asyncio.timeout(timeout):
                return await self._viewer.next()
        except (TimeoutError, ScreenUnavailableError):
            return None

    async def pause(self, seconds: float) -> None:
        """Let so much time pass; less where there will be no further pictures."""
        await self._viewer.pause(seconds)

    def end(self, reason: str) -> None:
        """There are to be no further pictures."""
        self._viewer.end(reason)

    def close(self) -> None:
        """Stop watching; the last one to do so stops the machine's capture."""
        self._viewer.close()


def check_screen(link: LinkSocket) -> None:
    """Raise a problem where the machine's screen cannot be seen."""
    if (why := link.desktop.why_no_screen) is not None:
        raise no_screen(why, link.desktop.screen_since)


def _since(link: LinkSocket) -> int | None:
    """Since when the screen cannot be seen; None is now."""
    return None if link.desktop.screen.available else link.desktop.screen_since
