"""The inputs that wait for their turn, bounded in number and in size."""

from collections import deque
from collections.abc import Iterator
from sys import getsizeof
from typing import Any, Final

from schemas.link.messages import Input

MOST_WAITING: Final = 10_000

MOST_BYTES: Final = 280 * 1024 * 1024
"""Of memory: more than a server sends before it is answered, which is 64 texts of 1 MiB where one
letter has each letter of its text take four bytes."""

BYTES_OF_AN_INPUT: Final = 1800
"""Without its body."""


class WaitingInputs:
    """A queue that says whether it has room; each input is taken back out by one of its methods."""

    def __init__(self) -> None:
        self._inputs: deque[Input] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._inputs)

    def __iter__(self) -> Iterator[Input]:
        return iter(self._inputs)

    def has_room_for(self, command: Input) -> bool:
        """Whether a further one may wait."""
        return len(self) < MOST_WAITING and self._bytes + _bytes_of(command) <= MOST_BYTES

    def append(self, command: Input) -> None:
        """Wait behind all others."""
        self._inputs.append(command)
        self._bytes += _bytes_of(command)

    def take_first(self) -> Input:
        """The one that has waited longest, which waits no more."""
        command = self._inputs.popleft()
        self._bytes -= _bytes_of(command)
        return command

    def take(self, command: Input) -> None:
        """One of them waits no more."""
        self._inputs.remove(command)
        self._bytes -= _bytes_of(command)

    def take_all(self) -> list[Input]:
        """All of them, in their order; none waits any more."""
        commands = list(self._inputs)
        self._inputs.clear()
        self._bytes = 0
        return commands


def _bytes_of(command: Input) -> int:
    """What an input takes of memory: nobody has looked yet whether its body is one."""
    size, unseen = BYTES_OF_AN_INPUT, [command.body]
    while unseen:
        value: Any = unseen.pop()
        size += getsizeof(value)
        if isinstance(value, dict):
            unseen += value.keys()
            unseen += value.values()
        elif isinstance(value, list):
            unseen += value
    return size
