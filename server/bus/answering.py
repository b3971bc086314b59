"""The requests that one node answers just now: a bounded number of tasks."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from server.bus.bus import MAX_REPLY_BYTES, Respond
from server.tasks import Tasks

MAX_ANSWERING: Final = 4096
"""A request beyond them is refused at once; each of them may wait long for its machine."""

MAX_ANSWERING_BYTES: Final = 64 * 1024 * 1024
"""What their messages may take together."""

SendReply = Callable[[bytes], Awaitable[None]]
"""Takes a reply to the one who waits for it."""


class Answering:
    """Runs a task for each request."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._number = 0
        self._bytes = 0

    def start(self, respond: Respond, message: bytes, send_reply: SendReply) -> bool:
        """Answer one request; False, and nothing is done, where there are too many already."""
        if self._number >= MAX_ANSWERING or self._bytes + len(message) > MAX_ANSWERING_BYTES:
            return False
        self._number += 1
        self._bytes += len(message)
        task = self._tasks.start_and_report(
            _answer(respond, message, send_reply), "answer a request of the bus"
        )
        # Not in the task, which may be cancelled before it has begun.
        task.add_done_callback(partial(self._ended, len(message)))
        return True

    def _ended(self, size: int, _: asyncio.Task[None]) -> None:
        self._number -= 1
        self._bytes -= size


async def _answer(respond: Respond, message: bytes, send_reply: SendReply) -> None:
    reply = await respond(message)
    if len(reply) > MAX_REPLY_BYTES:
        raise ValueError(f"{len(reply)} bytes are too many: a reply has at most {MAX_REPLY_BYTES}")
    await send_reply(reply)
