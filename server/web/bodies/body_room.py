"""The memory that all request bodies have together, and which of them are still to come."""

import time
from dataclasses import dataclass, field
from typing import Protocol


class Arriving(Protocol):
    """A body on its way."""

    def close(self) -> None:
        """Close the connection that it should come on."""


@dataclass(eq=False)
class BodyRoom:
    """``most`` bytes for all request bodies, of which ``taken`` are in use.

    ``arriving`` has the bodies that are not complete, with when each began, the oldest first.
    """

    most: int
    taken: int = 0
    arriving: dict[Arriving, float] = field(default_factory=dict)

    def fits(self, size: int) -> bool:
        """Whether there is room for so many bytes now."""
        return self.taken + size <= self.most

    def close_overdue(self, timeout: float) -> None:
        """Close the connections whose bodies do not come; call about once a second.

        Tornado's own timeout for bodies would set and cancel a timer for each request, also for
        those whose body came together with the headers, which is nearly all.
        """
        too_old = time.monotonic() - timeout
        for body, began_at in tuple(self.arriving.items()):
            if began_at > too_old:
                break
            body.close()
