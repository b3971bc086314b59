"""Closes the links whose token was revoked."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

from server.errors import StoreUnavailable
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.identity.tokens import TokenStore

LOOKING_BACK_SECONDS: Final = 60.0
"""Each look asks for what was revoked so lately, by MongoDB's clock.

So it finds what was written late, and a link that came up by what was known of its token before.
"""

LONGEST_PAUSE_SECONDS: Final = 20.0
"""After a longer one without an answer, all tokens are looked at: clocks may have changed."""

ALL_SECONDS: Final = 600.0
"""How often all tokens are looked at in any case."""

AT_ONCE: Final = 500
"""So many tokens in one query, of all of them."""


class TokenWatch:
    """Asks what was revoked lately, which is next to nothing.  Links know when their token ends."""

    def __init__(self, registry: LinkRegistry, tokens: TokenStore, seconds: float) -> None:
        self._registry = registry
        self._tokens = tokens
        self._seconds = seconds
        self._looked_at = self._looked_at_all = float("-inf")

    async def run(self) -> None:
        """Look every so many seconds, for ever."""
        while True:
            # Where it does not answer nobody can revoke anything either; the next look tells.
            with suppress(StoreUnavailable):
                await self._look(time.monotonic())
            await asyncio.sleep(self._seconds)

    async def _look(self, began_at: float) -> None:
        if not self._registry.open_links:
            return
        if (
            began_at - self._looked_at > LONGEST_PAUSE_SECONDS + self._seconds
            or began_at - self._looked_at_all > ALL_SECONDS
        ):
            await self._look_at_all()
            self._looked_at_all = began_at
        else:
            revoked = await self._tokens.revoked_within(LOOKING_BACK_SECONDS)
            if revoked:
                _end(link for link in self._registry if link.token_id in revoked)
        self._looked_at = began_at

    async def _look_at_all(self) -> None:
        links = iter(self._registry)
        while some := tuple(islice(links, AT_ONCE)):
            usable = await self._tokens.usable({link.token_id for link in some})
            _end(link for link in some if link.token_id not in usable)


def _end(links: Iterable[LinkSocket]) -> None:
    for link in links:
        link.token_ended()
