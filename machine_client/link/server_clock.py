"""The server's clock, as far as its messages tell."""

from collections import deque

SAMPLES = 64
"""How many messages are remembered: with a heartbeat every 20 s, at least the last minutes."""


class ServerClock:
    """Estimates the server's time from messages that say when they were sent.

    A message can be late but never early, so the sample with the least delay is the best one, and
    the estimate is behind the server's clock by that message's delay at most.
    """

    def __init__(self) -> None:
        self._offsets: deque[float] = deque(maxlen=SAMPLES)

    def heard(self, server_time: int, now: float) -> None:
        """Note that a message that was sent at ``server_time`` (ms) arrived at ``now`` (s)."""
        self._offsets.append(server_time - now * 1000)

    def local(self, server_time: int) -> float:
        """When, in seconds of the local clock, it is ``server_time`` on the server.

        At least one message must have been heard: a command brings its own.
        """
        return (server_time - max(self._offsets)) / 1000

    def server(self, local: float) -> int:
        """What the server's clock says (ms) when the local one says ``local`` seconds.

        As for ``local``, at least one message must have been heard.
        """
        return round(local * 1000 + max(self._offsets))
