"""What machines have in common is in memory once: most are alike."""

from functools import lru_cache
from typing import Any, Final, TypeVar, cast

MOST_SHARED: Final = 1000

T = TypeVar("T")


def shared(value: T) -> T:
    """One for all that are equal: each would take a kilobyte."""
    return cast("T", _first_like(value))


@lru_cache(MOST_SHARED)
def _first_like(value: Any) -> Any:
    return value
