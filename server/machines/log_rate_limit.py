"""Bounds what is logged of one machine, however often it does something worth a line."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

MAX_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Window:
    begun_at: float
    said: int = 0
    unsaid: int = 0


class LogRateLimit:
    """Allows ``most`` lines in ``seconds`` for each key; ``clock`` is in seconds, too."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._windows: OrderedDict[Hashable, _Window] = OrderedDict()

    def count(self, key: Hashable) -> tuple[bool, int]:
        """Whether a line may be written, and how many were not since the last one."""
        now, window = self._clock(), self._windows.get(key)
        unsaid = 0
        if window is None or now - window.begun_at >= self._seconds:
            unsaid = 0 if window is None else window.unsaid
            window = self._windows[key] = _Window(now)
            self._windows.move_to_end(key)
            if len(self._windows) > MAX_REMEMBERED:
                self._windows.popitem(last=False)
        if window.said >= self._most:
            window.unsaid += 1
            return False, 0
        window.said += 1
        return True, unsaid
