"""Viewers on other nodes of the screens of machines on this node.

Each node asks for one picture after another, so that a slow one skips to the newest as every
viewer does.  Who asks no more has left.
"""

import asyncio
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from schemas.link.screen_options import LiveOptions
from server.dispatch.here.screens import LiveScreen, live_screen
from server.dispatch.questions.screens import (
    NextPicture,
    NoPicture,
    PictureTaken,
    ScreenEnded,
    StopWatching,
)
from server.machines.socket import LinkSocket

UNCHANGED_SECONDS: Final = 10.0
"""After which a screen that has not changed is said to be so."""

LEFT_SECONDS: Final = 30.0
"""After the last picture that a node asked for, its viewers have left."""

_Key = tuple[UUID, str, UUID]


@dataclass
class _Watching:
    """One node's viewers of a machine; ``sent_at`` is when they were sent a picture last."""

    screen: LiveScreen
    options: LiveOptions
    leaving: asyncio.TimerHandle
    sent_at: float | None = None


class RemoteViewers:
    """Watches live screens for the viewers of other nodes."""

    def __init__(self) -> None:
        self._watching: dict[_Key, _Watching] = {}

    async def next_picture(
        self, link: LinkSocket, request: NextPicture
    ) -> PictureTaken | NoPicture | ScreenEnded:
        """The next picture for another node.  Raises RefusedError where there is no screen."""
        key = request.organization_id, request.machine_id, request.viewer
        watching = self._watch(key, link, request)
        try:
            return await self._next(watching, request.rate)
        finally:
            # One that wants something else by now has another.
            if watching.screen.why_over is not None and self._watching.get(key) is watching:
                self._left(key)

    async def _next(
        self, watching: _Watching, rate: float
    ) -> PictureTaken | NoPicture | ScreenEnded:
        loop = asyncio.get_running_loop()
        if watching.sent_at is None:
            picture = await watching.screen.first()
        else:
            await watching.screen.pause(watching.sent_at + 0.9 / rate - loop.time())
            next_picture = await watching.screen.next(UNCHANGED_SECONDS)
            if next_picture is None:
                return _without_picture(watching.screen)
            picture = next_picture
        watching.sent_at = loop.time()
        return PictureTaken.of(picture)

    def stop(self, request: StopWatching) -> None:
        """The viewers of another node have left."""
        self._left((request.organization_id, request.machine_id, request.viewer))

    def _watch(self, key: _Key, link: LinkSocket, request: NextPicture) -> _Watching:
        watching, options = self._watching.get(key), request.options
        if watching is not None and watching.options == options and not watching.screen.why_over:
            watching.screen.rename(request.names)
            watching.leaving.cancel()
            watching.leaving = self._leaving(key)
            return watching
        # The new one first, so that the capture goes on between.
        screen = live_screen(link, request.options, request.names, request.looker)
        if watching is not None:
            self._left(key)
        watching = self._watching[key] = _Watching(screen, options, self._leaving(key))
        return watching

    def _leaving(self, key: _Key) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(LEFT_SECONDS, self._left, key)

    def _left(self, key: _Key) -> None:
        watching = self._watching.pop(key, None)
        if watching is not None:
            watching.leaving.cancel()
            watching.screen.close()


def _without_picture(screen: LiveScreen) -> NoPicture | ScreenEnded:
    if screen.why_over is None:
        return NoPicture()
    return ScreenEnded(reason=screen.why_over, since=screen.over_since)
