"""Waiting for what comes in its own time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

WAIT_SECONDS = 60.0

Found = TypeVar("Found")


def eventually(find: Callable[[], Found | None], what: str) -> Found:
    """Ask until there is an answer; fail with ``what`` was missing after `WAIT_SECONDS`."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := find()) is None or found is False:
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {WAIT_SECONDS} s: {what}")
        time.sleep(0.01)
    return found


async def until(condition: Callable[[], object]) -> None:
    """As `eventually`, for what no event of a loop tells."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not condition():  # noqa: ASYNC110 - that is what it is for
            await asyncio.sleep(0.005)


async def waited(find: Callable[[], Awaitable[Found | None]]) -> Found:
    """As `until`, for what has to be asked for: the first answer that there is."""
    async with asyncio.timeout(WAIT_SECONDS):
        while (found := await find()) is None:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.02)
    return found
