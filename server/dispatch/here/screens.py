"""What the screen of a machine shows: once, or live for somebody who watches."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from schemas.inputs.pictures import Area, PictureWanted
from schemas.inputs.waits import ElementSeen
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions
from server.dispatch.here.elements import check_elements
from server.dispatch.questions import screens
from server.dispatch.questions.question import LinkQuestion
from server.dispatch.refusals import (
    RefusedError,
    busy,
    just_disconnected,
    no_screen,
    no_vision,
    not_on_screen,
    private,
)
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.privacy import PrivateError
from server.machines.screens import MachineScreen, NotOnScreenError, ScreenUnavailableError
from server.machines.socket import LinkSocket

Answer = TypeVar("Answer")
R = TypeVar("R")

VISION_UNAVAILABLE = "vision_unavailable"
"""What a machine client calls it when its node does not judge what it shows."""

POINTER_DRAWN = "pointer_drawn"
"""And when its desktop draws the pointer into every picture."""


async def screenshot(link: LinkSocket, question: screens.TakeScreenshot) -> screens.PictureTaken:
    """A picture of the screen as it is now.  Raises RefusedError."""
    wanted = question.wanted
    return screens.PictureTaken.of(
        await _asked(link, lambda screen: screen.screenshot(wanted, screens.ANSWER_SECONDS))
    )


async def without_pointer(
    link: LinkSocket, question: LinkQuestion[R], region: Area | None = None
) -> screens.PictureTaken:
    """The same for whoever looks for something in it; the pointer is on it where it has to be.

    Raises RefusedError.
    """

    def taken(*, pointer: bool) -> Awaitable[screens.PictureTaken]:
        wanted = PictureWanted(region=region, pointer=pointer)
        return screenshot(
            link,
            screens.TakeScreenshot(
                organization_id=question.organization_id,
                machine_id=question.machine_id,
                wanted=wanted,
            ),
        )

    try:
        return await taken(pointer=False)
    except RefusedError as error:
        if error.refusal.code != POINTER_DRAWN:
            raise
        return await taken(pointer=True)


async def wait(link: LinkSocket, question: screens.AwaitScreen) -> screens.ScreenSeen:
    """What the screen shows within the time.  Raises RefusedError."""
    if any(isinstance(each, ElementSeen) for each in question.any):
        check_elements(link)
    seen = await _asked(
        link, lambda screen: screen.wait(question.any, question.timeout), part="body"
    )
    return screens.ScreenSeen(
        matched=seen.matched, at=seen.at, elapsed=seen.elapsed, seen=seen.seen
    )


async def fetch_picture(link: LinkSocket, question: screens.FetchPicture) -> screens.PictureTaken:
    """The picture that a command had taken.  Raises RefusedError."""
    wanted = question.command_id, question.action
    return screens.PictureTaken.of(
        await _asked(link, lambda screen: screen.fetch(*wanted, screens.ANSWER_SECONDS))
    )


async def look(link: LinkSocket, _: screens.LookAtDesktop) -> screens.DesktopSeen:
    """The displays and the pointer as they are now.  Raises RefusedError."""
    seen = await _asked(link, lambda screen: screen.look(screens.ANSWER_SECONDS))
    return screens.DesktopSeen(displays=seen.displays, pointer=seen.pointer)


async def _asked(
    link: LinkSocket,
    question: Callable[[MachineScreen], Awaitable[Answer]],
    *,
    part: str = "query",
) -> Answer:
    """What a screen answers; ``part`` is where in the request stands what it may lack."""
    check_screen(link)
    try:
        return await question(link.screen)
    except ScreenUnavailableError as error:
        raise RefusedError(no_screen(str(error), error.since or _since(link))) from None
    except NotOnScreenError as error:
        if error.code == VISION_UNAVAILABLE:
            raise RefusedError(no_vision(str(error))) from None
        loc = part, *error.field.split(".")
        raise RefusedError(not_on_screen(str(error), error.code, loc)) from None
    except LinkBusyError:
        raise RefusedError(busy("questions about its screen as it may")) from None
    except (LinkDownError, LinkLostError):
        raise RefusedError(just_disconnected()) from None
    except TimeoutError:
        why = f"it did not answer within {screens.ANSWER_SECONDS:g} s"
        raise RefusedError(no_screen(why, _since(link))) from None


class LiveScreen:
    """One who watches a machine's screen: begins with it, and is closed at the end.

    Raises RefusedError where its link is down.  ``names`` are who watches, ``looker`` stands for
    them, and ``unseen_since`` says since when the screen cannot be seen; None is now.  ``rate`` is
    pictures a second, at most.
    """

    def __init__(
        self,
        screen: MachineScreen,
        options: LiveOptions,
        names: Iterable[str],
        unseen_since: Callable[[], int | None],
        *,
        looker: str,
    ) -> None:
        self._unseen_since = unseen_since
        self.rate = options.rate
        try:
            self._viewer = screen.watch(options, *names, looker=looker)
        except LinkDownError:
            raise RefusedError(just_disconnected()) from None

    @property
    def why_over(self) -> str | None:
        """Why there will be no further pictures; None while there will."""
        return self._viewer.why_over

    @property
    def over_since(self) -> int | None:
        """Since when there are none (ms since 1970); None is now."""
        return self._viewer.over_since

    async def first(self) -> Picture:
        """The first picture.  Raises RefusedError, which says why there is none."""
        try:
            async with asyncio.timeout(screens.ANSWER_SECONDS):
                return await self._viewer.next()
        except PrivateError as error:
            raise RefusedError(private(error.by, error.since)) from None
        except ScreenUnavailableError as error:
            since = error.since or self._unseen_since()
            raise RefusedError(no_screen(str(error), since)) from None
        except TimeoutError:
            why = f"it sent no picture within {screens.ANSWER_SECONDS:g} s"
            raise RefusedError(no_screen(why, self._unseen_since())) from None

    async def next(self, timeout: float) -> Picture | None:
        """The newest picture that was not had yet; None where none comes in time, or any more."""
        try:
            async with asyncio.timeout(timeout):
                return await self._viewer.next()
        except (TimeoutError, ScreenUnavailableError, PrivateError):
            return None

    async def pause(self, seconds: float) -> None:
        """Let so much time pass; less where there will be no further pictures."""
        await self._viewer.pause(seconds)

    def rename(self, names: Iterable[str]) -> None:
        """Others watch by this now."""
        self._viewer.rename(tuple(names))

    def end(self, reason: str) -> None:
        """There are to be no further pictures."""
        self._viewer.end(reason)

    def close(self) -> None:
        """Stop watching; the last one to do so stops the machine's capture."""
        self._viewer.close()


def live_screen(
    link: LinkSocket, options: LiveOptions, names: Iterable[str], looker: str
) -> LiveScreen:
    """One who may see the screen of a machine on this node watches it.  Raises RefusedError."""
    check_screen(link)
    return LiveScreen(link.screen, options, names, lambda: _since(link), looker=looker)


def check_screen(link: LinkSocket) -> None:
    """Raise RefusedError where the machine's screen cannot be seen."""
    if (why := link.desktop.why_no_screen) is not None:
        raise RefusedError(no_screen(why, link.desktop.screen_since))


def _since(link: LinkSocket) -> int | None:
    """Since when the screen cannot be seen; None is now."""
    return None if link.desktop.screen.available else link.desktop.screen_since
