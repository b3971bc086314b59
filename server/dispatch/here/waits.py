"""Waits for what the screens of machines here show, whichever node was asked.

Whoever waits asks again and again; who asks no more has gone, and the machine looks no more.
"""

import asyncio
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.dispatch.here.looking import looking
from server.dispatch.here.screens import wait
from server.dispatch.questions.screens import AwaitScreen, ScreenSeen, StillWaiting, StopWaiting
from server.machines.socket import LinkSocket

POLL_SECONDS: Final = 1.0
"""After which whoever asks is told that nothing was seen yet."""

GONE_SECONDS: Final = 5.0
"""Without a further question for so long, nobody waits any more."""

_Key = tuple[UUID, str, UUID]


@dataclass
class _Waiting:
    """A wait on a link, and when whoever asked last will be taken for gone."""

    seeing: asyncio.Task[ScreenSeen]
    leaving: asyncio.TimerHandle


class WaitsHere:
    """The waits on the links of this node."""

    def __init__(self) -> None:
        self._waiting: dict[_Key, _Waiting] = {}

    async def seen(self, link: LinkSocket, asked: AwaitScreen) -> ScreenSeen | StillWaiting:
        """What the wait has seen, as soon as it has.  Raises RefusedError."""
        key = _key(asked)
        waiting = self._waiting.get(key)
        if waiting is None:
            seeing = asyncio.get_running_loop().create_task(_wait(link, asked))
            seeing.add_done_callback(_look_at_error)
        else:
            waiting.leaving.cancel()
            seeing = waiting.seeing
        self._waiting[key] = _Waiting(seeing, self._leaving(key))
        await asyncio.wait((seeing,), timeout=POLL_SECONDS)
        if not seeing.done() or seeing.cancelled():
            return StillWaiting()  # The latter to one who has gone.
        self._forget(key)
        return seeing.result()

    def stop(self, asked: StopWaiting) -> None:
        """Whoever waited has gone."""
        self._forget(_key(asked))

    def _leaving(self, key: _Key) -> asyncio.TimerHandle:
        seconds = POLL_SECONDS + GONE_SECONDS
        return asyncio.get_running_loop().call_later(seconds, self._forget, key)

    def _forget(self, key: _Key) -> None:
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting.leaving.cancel()
            waiting.seeing.cancel()


async def _wait(link: LinkSocket, asked: AwaitScreen) -> ScreenSeen:
    """What is seen, also between two questions about it by one who may see it all the time."""
    async with looking(link, asked.looker):
        return await wait(link, asked)


def _look_at_error(seeing: "asyncio.Task[ScreenSeen]") -> None:
    """Whoever would be told why may have gone: that is no reason for a warning."""
    if not seeing.cancelled():
        seeing.exception()


def _key(asked: AwaitScreen | StopWaiting) -> _Key:
    return asked.organization_id, asked.machine_id, asked.wait_id
