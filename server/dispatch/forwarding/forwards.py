"""What other nodes have forwarded, so that a message that comes again is answered alike."""

import asyncio
from heapq import heappop, heappush
from typing import Final
from uuid import UUID

from server.clock import server_time
from server.dispatch.command import CommandReply

FORWARDS_KEPT: Final = 100_000
"""Commands that were forwarded, each until nobody asks for it any more; beyond, none is taken."""

REPEATED_SECONDS: Final = 5.0
"""So long after an answer was due a message may still come again: more than its sender waits."""

_FORGOTTEN_AT_ONCE: Final = 4
"""More than come, so that what is late is forgotten sooner or later, and never all at once."""

Promised = asyncio.Future[CommandReply]


class Forwards:
    """The replies to commands of other nodes, by their forwards' ids."""

    def __init__(self) -> None:
        self._replies: dict[UUID, Promised] = {}
        # A drag may be due minutes after what came behind it: so the first is the one due first.
        self._ends: list[tuple[int, UUID]] = []

    def __len__(self) -> int:
        return len(self._replies)

    def __contains__(self, forward_id: UUID) -> bool:
        return forward_id in self._replies

    @property
    def under_way(self) -> int:
        """How many are not answered yet."""
        return sum(not reply.done() for reply in self._replies.values())

    @property
    def is_full(self) -> bool:
        """Whether no further one may be taken."""
        return len(self._replies) >= FORWARDS_KEPT

    def find(self, forward_id: UUID) -> Promised | None:
        """The reply to a command, which may be given already; None where it has not come before."""
        return self._replies.get(forward_id)

    def add(self, forward_id: UUID, answer_by: int) -> Promised:
        """The reply to a new command, for whoever answers it to fill in."""
        reply: Promised = asyncio.get_running_loop().create_future()
        self._replies[forward_id] = reply
        heappush(self._ends, (answer_by + round(REPEATED_SECONDS * 1000), forward_id))
        return reply

    def forget_late(self) -> None:
        """Forget some of those for which nobody asks any more."""
        now = server_time()
        for _ in range(_FORGOTTEN_AT_ONCE):
            if not self._ends or self._ends[0][0] > now:
                return
            _, forward_id = heappop(self._ends)
            if self._replies[forward_id].done():
                del self._replies[forward_id]
            else:
                # Looked at again later, so that it holds back nothing behind it.
                heappush(self._ends, (now + round(REPEATED_SECONDS * 1000), forward_id))
