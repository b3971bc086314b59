"""Texts on their way to who pastes, each through a pipe: as much as it takes, when it takes it."""

import contextlib
import os
import time
from collections.abc import Callable, Collection
from typing import Final

PATIENCE_SECONDS: Final = 10.0
"""For who pastes to take a part; after that it is taken for gone."""

MOST_GIFTS: Final = 32


class Gifts:
    """Writes texts into pipes without waiting; ``clock`` is seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[int, tuple[memoryview, float]] = {}

    @property
    def waiting(self) -> Collection[int]:
        """The pipes that are to take more."""
        return self._open.keys()

    @property
    def patience_milliseconds(self) -> float | None:
        """How long nobody need look; None is for ever."""
        if not self._open:
            return None
        return max(0.0, min(until for _, until in self._open.values()) - self._clock()) * 1000

    def begin(self, descriptor: int, content: bytes) -> None:
        """Give a text to a pipe, which is closed at its end."""
        if len(self._open) >= MOST_GIFTS:
            os.close(descriptor)
            return
        os.set_blocking(descriptor, False)
        self._open[descriptor] = memoryview(content), self._clock() + PATIENCE_SECONDS
        self._go_on(descriptor)

    def go_on(self) -> None:
        """Give each pipe what it takes now, and give up those that take nothing for long."""
        for descriptor in list(self._open):
            self._go_on(descriptor)

    def close(self) -> None:
        """Give all of them up."""
        for descriptor in list(self._open):
            self._end(descriptor)

    def _go_on(self, descriptor: int) -> None:
        rest, until = self._open[descriptor]
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
                until = self._clock() + PATIENCE_SECONDS
        except BlockingIOError:
            self._open[descriptor] = rest, until
            if self._clock() >= until:
                self._end(descriptor)
        except OSError:
            self._end(descriptor)
        else:
            self._end(descriptor)

    def _end(self, descriptor: int) -> None:
        del self._open[descriptor]
        with contextlib.suppress(OSError):
            os.close(descriptor)
