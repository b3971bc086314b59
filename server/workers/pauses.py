"""How long to rest before something that ended by itself is started again."""

from typing import Final

FIRST_SECONDS: Final = 0.2
LONGEST_SECONDS: Final = 5.0

STEADY_SECONDS: Final = 30.0
"""What has lived for so long is started again as if it were for the first time."""


class Pauses:
    """Twice as long each time, so that what ends at once does not take the whole processor."""

    def __init__(self) -> None:
        self._next = FIRST_SECONDS

    def after(self, lived: float) -> float:
        """The pause after a life of so many seconds."""
        if lived >= STEADY_SECONDS:
            self._next = FIRST_SECONDS
        pause, self._next = self._next, min(2 * self._next, LONGEST_SECONDS)
        return pause
