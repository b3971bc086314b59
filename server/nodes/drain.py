"""Moves the links of a node that ends to the others, some at a time."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Final

from schemas.link.close_codes import MOVED_REASON, CloseCode
from server.errors import StoreUnavailable
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket

logger = logging.getLogger(__name__)

LEAST_GROUP: Final = 10
GROUPS: Final = 100
"""Of many links each of so many groups has its share, so that all have moved in time."""

GROUP_SECONDS: Final = 0.05
"""Between two looks whether the machines of a group are back."""

PATIENCE_SECONDS: Final = 2.0
"""For a group to be back: some machines may never be."""

LEAST_SECONDS: Final = 0.5
"""For requests on connections that were there before: their clients go elsewhere with the next."""

IsBack = Callable[[LinkSocket], Awaitable[bool]]
"""Whether the machine of a link that was moved has another one.  May raise StoreUnavailable."""


class Drain:
    """Has machines come back at once, which then find another node, one group after another.

    The next group waits for the one before: the other nodes, and whoever sends input meanwhile,
    have as few on their way as can be.
    """

    def __init__(self, registry: LinkRegistry, is_back: IsBack) -> None:
        self._registry = registry
        self._is_back = is_back
        self._knows_who_is_back = True

    async def run(self, seconds: float) -> None:
        """Move each link when its machine has nothing to do, for so many seconds at most."""
        began_at, took = time.monotonic(), 0.0
        size = max(LEAST_GROUP, self._registry.open_links // GROUPS)
        while took < LEAST_SECONDS or (any(self._registry) and took < seconds):
            group = list(islice((link for link in self._registry if link.is_idle), size))
            for link in group:
                link.close(CloseCode.MOVED, MOVED_REASON)
            self._registry.moved += len(group)
            await self._until_back(group)
            took = time.monotonic() - began_at
        logger.info("%d machines were sent to other nodes in %.1f s", self._registry.moved, took)

    async def _until_back(self, group: Sequence[LinkSocket]) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        await asyncio.sleep(GROUP_SECONDS)
        while self._knows_who_is_back and (group := await self._those_away(group)):
            if time.monotonic() > give_up_at:
                return
            await asyncio.sleep(GROUP_SECONDS)

    async def _those_away(self, group: Sequence[LinkSocket]) -> Sequence[LinkSocket]:
        try:
            are_back = await asyncio.gather(*map(self._is_back, group))
        except StoreUnavailable:
            # Nor will it be known of the next group, and to find that out takes long.
            self._knows_who_is_back = False
            return ()
        return [link for link, is_back in zip(group, are_back, strict=True) if not is_back]
