"""A websocket of Tornado's that tells of every frame, so that no flood of them is read for nothing.

Tornado's own hooks do not tell of pongs and of parts of messages, and each costs whoever reads it.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, Protocol, cast

from tornado.websocket import WebSocketProtocol13

MAX_LATE_FRAMES: Final = 256
"""So many frames may have been on their way when a websocket was closed; more are a flood."""

FRAMES_OF_A_PING: Final = 5
"""A ping is answered, with a write of its own: it costs others several times what an ack does."""


LAST_WORDS_SECONDS: Final = 0.3
"""For the other side to learn why, before the connection is gone."""


class FrameListener(Protocol):
    """Who is told of frames: the ``handler`` of the websocket."""

    @property
    def is_over(self) -> bool:
        """Whether this side has begun to close the websocket."""

    def frames_came(self, frames: int) -> None:
        """So many more frames have come, or what costs as much; closes where they are too many."""


class CountedFrames(WebSocketProtocol13):
    """Tells its handler, a :class:`FrameListener`, of every frame, before the next one is read.

    Once the websocket is over, and more comes than can have been on its way, nothing is read any
    more and the connection is soon gone.
    """

    # Tornado's own are as many attributes as instances can share the names of: among them, each
    # of ours would cost every link 1.3 kB.
    __slots__ = ("_frames_awaited", "_late_frames")

    def __init__(self, *of_tornado: Any) -> None:
        super().__init__(*of_tornado)
        self._frames_awaited = 0
        self._late_frames = 0

    def ping_came(self) -> None:
        """Count what a ping costs beyond other frames; for the handler's ``on_ping``."""
        listener = cast("FrameListener", self.handler)
        if not listener.is_over:
            listener.frames_came(FRAMES_OF_A_PING - 1)

    def _receive_frame(self) -> Coroutine[Any, Any, None]:
        """Count the frame before this one, without a coroutine for that alone."""
        self._frames_awaited += 1
        if self._frames_awaited > 1 and not self._is_heard():
            # What is read already is not taken frame by frame, and the rest not read at all: a
            # connection that is closed with that unread would take along why it was closed.
            self.client_terminated = True
            return asyncio.sleep(LAST_WORDS_SECONDS)
        return super()._receive_frame()

    def _is_heard(self) -> bool:
        """Count a frame; False for whoever floods a websocket that is closing already."""
        listener = cast("FrameListener", self.handler)
        if not listener.is_over:
            listener.frames_came(1)
            return True
        self._late_frames += 1
        return self._late_frames <= MAX_LATE_FRAMES
