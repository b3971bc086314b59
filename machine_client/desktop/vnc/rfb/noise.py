"""How much a server may say that nobody asked for: a bucket that fills with time.

It is much more than any server says by itself, and less than what keeps a processor busy: each
thing counts as one message for every 100 microseconds or so that a slow processor has work with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from machine_client.desktop.vnc.rfb.parsing import ProtocolError

BURST: Final = 5000
A_SECOND: Final = 2000

PIXELS_OF_A_MESSAGE: Final = 16_384
"""A new size costs one more for each so many, whose memory is made anew; so does what is painted
unasked."""

MOST_DUE: Final = 4
"""Updates that one may still owe us: several requests are often answered by one."""

SCREENS_OF_AN_ANSWER: Final = 4
"""How often all of the screen may be painted in one answer; what is copied is often painted too."""


@dataclass(frozen=True, slots=True)
class Price:
    """How many rectangles, their rows and their pixels cost as much as one message."""

    rectangles: int
    rows: int
    pixels: int

    def of(self, width: int, height: int, screen_width: int) -> float:
        """What one costs; the rows of one that is as wide as the screen are painted at once."""
        rows = height / self.rows if width < screen_width else 0
        return 1 / self.rectangles + rows + width * height / self.pixels


UNASKED: Final = Price(rectangles=1, rows=64, pixels=PIXELS_OF_A_MESSAGE)

ASKED: Final = Price(rectangles=50, rows=250, pixels=320_000)
"""QEMU tells of a text that scrolls in thousands of rectangles, of 16 pixels and more each."""


class Noise:
    """Counts messages; ``clock`` is seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = float(BURST)
        self._filled_at = clock()

    def heard(self, messages: float = 1) -> None:
        """So many messages came, or what costs as much.  Raises ProtocolError for too many."""
        now = self._clock()
        self._left = min(self._left + (now - self._filled_at) * A_SECOND, BURST) - messages
        self._filled_at = now
        if self._left < 0:
            raise ProtocolError(
                f"it says more than the {BURST} things at once, or {A_SECOND} a second, that a "
                "server may say unasked"
            )


class Painting:
    """Counts what is painted; ``asked`` is how many updates were asked for so far."""

    def __init__(self, noise: Noise) -> None:
        self.asked = 0
        self._answered = 0
        self._noise = noise
        self._pixels: int | None = None
        self._is_asked = False

    def begin(self) -> None:
        """An update begins, with pixels or without."""
        self._pixels = None

    def painted(self, width: int, height: int, screen: tuple[int, int]) -> None:
        """A rectangle of it comes.  Raises ProtocolError for too much."""
        if self._pixels is None:
            self._pixels = 0
            self._is_asked = self._take()
            self._noise.heard()
        self._pixels += width * height
        is_all = self._pixels <= SCREENS_OF_AN_ANSWER * screen[0] * screen[1]
        price = ASKED if self._is_asked and is_all else UNASKED
        self._noise.heard(price.of(width, height, screen[0]))

    def _take(self) -> bool:
        """Whether an update with pixels was asked for."""
        self._answered = max(self._answered, self.asked - MOST_DUE)
        if self._answered == self.asked:
            return False
        self._answered += 1
        return True
