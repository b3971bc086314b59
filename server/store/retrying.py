"""Trying again while the database does not answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from server.errors import StoreUnavailable

FIRST_DELAY, LONGEST_DELAY = 0.05, 0.5

T = TypeVar("T")


async def retry(operation: Callable[[], Awaitable[T]], *, is_worthwhile: Callable[[], bool]) -> T:
    """What the operation returns, tried again for as long as that is worthwhile.

    A try that failed may have been carried out, or may still be, so the operation must be one that
    can be repeated.  Raises the last StoreUnavailable.
    """
    delay = FIRST_DELAY
    while True:
        try:
            return await operation()
        except StoreUnavailable:
            if not is_worthwhile():
                raise
        await asyncio.sleep(delay)
        delay = min(delay * 2, LONGEST_DELAY)


def always() -> bool:
    """For what must be done, however long it takes."""
    return True
