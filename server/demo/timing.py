"""How long an answer took."""

import time
from collections.abc import Callable
from typing import TypeVar

Got = TypeVar("Got")


def timed(call: Callable[[], Got]) -> tuple[Got, float]:
    """What a call returns, and how many milliseconds it took."""
    begun = time.perf_counter()
    got = call()
    return got, (time.perf_counter() - begun) * 1000
