"""Heartbeats of a link: one at a time, and how long the last one took."""

from collections.abc import Callable
from dataclasses import dataclass

from schemas.link.messages import Heartbeat, HeartbeatAck
from server.machines.link.errors import UnexpectedAnswerError


@dataclass(slots=True)
class Heartbeats:
    """``sent`` counts them; ``round_trip_seconds`` is of the last one that was answered."""

    clock: Callable[[], float]
    server_time: Callable[[], int]
    sent: int = 0
    round_trip_seconds: float | None = None
    _sent_at: float | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether the last one is not answered yet."""
        return self._sent_at is not None

    def next(self) -> Heartbeat:
        """One to be sent now."""
        self.sent += 1
        self._sent_at = self.clock()
        return Heartbeat(sequence=self.sent, server_time=self.server_time())

    def acknowledged(self, ack: HeartbeatAck) -> None:
        """It was answered.  Raises UnexpectedAnswerError where none waits for this answer."""
        if ack.sequence != self.sent or self._sent_at is None:
            raise UnexpectedAnswerError(
                "answered a heartbeat that was not sent, or was answered before"
            )
        self.round_trip_seconds = self.clock() - self._sent_at
        self._sent_at = None
