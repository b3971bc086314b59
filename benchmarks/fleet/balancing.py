"""How connections are spread over several nodes: as a load balancer in front of them does it."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle
from typing import TypeVar

Opened = TypeVar("Opened")


class Balancer:
    """Leads each new connection to the node whose turn it is, and past those that refuse it."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._nodes = len(ports)
        self._turns = cycle(ports)

    async def connect(self, to_port: Callable[[int], Awaitable[Opened]]) -> Opened:
        """What opens a connection to one port makes of it.

        Raises the last node's OSError where all refuse.
        """
        for _ in range(self._nodes - 1):
            try:
                return await to_port(next(self._turns))
            except ConnectionRefusedError:
                continue
        return await to_port(next(self._turns))
