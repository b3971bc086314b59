"""How many frames a machine may send that nobody asked for: a bucket that fills with time.

It is much more than any machine client needs, and much less than what other links would notice.
"""

from collections.abc import Callable
from typing import Final

BURST: Final = 1000
A_SECOND: Final = 500


class FrameBudget:
    """``clock`` is seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._filled_at = clock()

    def earn(self, frames: int) -> None:
        """Allow so many frames more: what answers a question."""
        self._left = min(self._left + frames, BURST)

    def spend(self, frames: int) -> bool:
        """Count frames that have come; False where they are more than may come."""
        now = self._clock()
        self._left = min(self._left + (now - self._filled_at) * A_SECOND, BURST) - frames
        self._filled_at = now
        return self._left >= 0
