"""What keeps links honest as time passes: heartbeats, and the tokens that they were opened with."""

import asyncio
import logging

from schemas.link.messages import CloseCode
from server.machines.registry import LinkRegistry
from server.store.errors import StoreUnavailable
from server.store.tokens import TokenStore

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0


async def tick_links(registry: LinkRegistry) -> None:
    """Tick every link once a second, for ever; nothing else is waited for between."""
    while True:
        for link in registry:
            try:
                link.tick()
            except Exception:  # the others' heartbeats are to go on all the same
                logger.exception("machine=%s link could not be ticked", link.machine_id)
        await asyncio.sleep(TICK_SECONDS)


async def check_tokens(registry: LinkRegistry, tokens: TokenStore, seconds: float) -> None:
    """Close the links whose token was revoked or has expired, for ever, every so many seconds."""
    while True:
        await _close_unauthorized(registry, tokens)
        await asyncio.sleep(seconds)


async def _close_unauthorized(registry: LinkRegistry, tokens: TokenStore) -> None:
    links = tuple(registry)
    if not links:
        return
    try:
        usable = await tokens.usable({link.token_id for link in links})
    except StoreUnavailable:
        return  # Nobody can revoke anything now either; the next look tells.
    for link in links:
        if link.token_id not in usable:
            link.close(CloseCode.TOKEN_REVOKED, "the token was revoked or has expired")
