"""How much a server may say that nobody asked for: a bucket that fills with time.

It is much more than any server says by itself, and less than what keeps a processor busy.
"""

from collections.abc import Callable
from typing import Final

from machine_client.desktop.vnc.rfb.parsing import ProtocolError

BURST: Final = 5000
A_SECOND: Final = 2000

PIXELS_OF_A_MESSAGE: Final = 500_000
"""A new size costs one more for each so many pixels, whose memory is made anew."""


class Noise:
    """Counts messages; ``clock`` is seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._filled_at = clock()

    def heard(self, messages: int = 1) -> None:
        """So many messages came, or what costs as much.  Raises ProtocolError for too many."""
        now = self._clock()
        self._left = min(self._left + (now - self._filled_at) * A_SECOND, BURST) - messages
        self._filled_at = now
        if self._left < 0:
            raise ProtocolError(
                f"it says more than the {BURST} things at once, or {A_SECOND} a second, that a "
                "server may say unasked"
            )
