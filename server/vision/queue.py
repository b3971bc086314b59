"""Who is served next: one of each caller in turn, so that none waits for all of another's."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class QueueFullError(Exception):
    """As many wait as may: of this caller, or of all."""


class FairQueue(Generic[T]):
    """Bounded for each caller and for all together."""

    def __init__(self, most: int, most_of_a_caller: int) -> None:
        self._most = most
        self._most_of_a_caller = most_of_a_caller
        self._callers: OrderedDict[str, deque[T]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, caller: str, item: T) -> None:
        """Let one wait.  Raises QueueFullError."""
        waiting = self._callers.get(caller, ())
        if self._size >= self._most or len(waiting) >= self._most_of_a_caller:
            raise QueueFullError
        self._callers.setdefault(caller, deque()).append(item)
        self._size += 1

    def take(self) -> T:
        """The oldest of the caller whose turn it is; there is one."""
        caller, waiting = self._callers.popitem(last=False)
        item = waiting.popleft()
        if waiting:
            # Behind all others that wait.
            self._callers[caller] = waiting
        self._size -= 1
        return item
