"""Waiting for another node only as long as that has the link."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from server.bus.bus import ReplyLostError
from server.tasks import Tasks

LINK_POLL_SECONDS: Final = 2.0
"""How often it is looked whether the link is there while its node does not answer."""


class LinkWatch:
    """``with`` it, an ``await`` ends with ReplyLostError soon after ``is_there`` has become False.

    What is answered at once, as nearly all is, costs one timer: no task, and no question.
    """

    __slots__ = ("_background", "_cancelling", "_is_lost", "_is_there", "_task", "_timer", "_watch")

    def __init__(self, is_there: Callable[[], Awaitable[bool]], background: Tasks) -> None:
        self._is_there = is_there
        self._background = background
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._watch: asyncio.Task[None] | None = None
        self._is_lost = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task(loop)
        assert self._task is not None  # noqa: S101  only a task can await
        self._cancelling = self._task.cancelling()
        self._timer = loop.call_later(LINK_POLL_SECONDS, self._begin)

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._watch is not None:
            self._watch.cancel()
        if self._is_lost and self._task is not None:
            is_ours = self._task.uncancel() <= self._cancelling
            # Whoever cancels the caller at the same time is to see it cancelled.
            if is_ours and kind is asyncio.CancelledError:
                raise ReplyLostError("the link is not there any more") from None
        self._task = None

    def _begin(self) -> None:
        self._watch = self._background.start_and_report(self._look(), "look for a link")

    async def _look(self) -> None:
        if await self._is_there():
            self._timer = asyncio.get_running_loop().call_later(LINK_POLL_SECONDS, self._begin)
        elif self._task is not None:
            self._is_lost = True
            self._task.cancel()
