"""The memory that all request bodies have together, and which of them are still to come."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class ReceivedBody(Protocol):
    """A body that is being received."""

    def close(self) -> None:
        """Close the connection that it should come on."""


@dataclass(eq=False)
class BodyMemory:
    """At most ``limit`` bytes for all request bodies together, of which ``used`` are in use.

    ``receiving`` has the bodies that are not complete, with when each began, the oldest first.
    """

    limit: int
    used: int = 0
    receiving: dict[ReceivedBody, float] = field(default_factory=dict)

    def fits(self, size: int) -> bool:
        """Whether so many bytes more may be used now."""
        return self.used + size <= self.limit

    def close_slow(self, timeout: float) -> None:
        """Close the connections whose bodies take longer than this; call about once a second.

        Tornado's own timeout for bodies would set and cancel a timer for each request, also for
        those whose body came together with the headers, which is nearly all.
        """
        too_old = time.monotonic() - timeout
        for body, began_at in tuple(self.receiving.items()):
            if began_at > too_old:
                break
            body.close()
