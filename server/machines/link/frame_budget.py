"""How many frames a machine may send that nobody asked for: a bucket that fills with time.

It is much more than any machine client needs, and much less than what other links would notice.
"""

from collections.abc import Callable
from typing import Final

from server.machines.link.errors import FrameFloodError

BURST: Final = 1000
A_SECOND: Final = 500


class FrameBudget:
    """``clock`` is seconds of a monotonic clock."""

    __slots__ = ("_clock", "_filled_at", "_left")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._filled_at = clock()

    def earn(self, frames: int) -> None:
        """Allow so many frames more: what answers a question."""
        self._left = min(self._left + frames, BURST)

    def count(self, frames: int) -> None:
        """Count frames that have come; less than none are asked for.  Raises FrameFloodError."""
        if frames < 0:
            self.earn(-frames)
        elif not self._spend(frames):
            raise FrameFloodError(
                f"it sent more than the {BURST} frames at once, or {A_SECOND} a second, that a "
                "machine client may send unasked"
            )

    def _spend(self, frames: int) -> bool:
        now = self._clock()
        self._left = min(self._left + (now - self._filled_at) * A_SECOND, BURST) - frames
        self._filled_at = now
        return self._left >= 0
