"""What somebody with control did by hand, and what was said to it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.faults.arrivals import Step


@dataclass(eq=False)
class HandHistory:
    """One websocket of a hand: the events of each batch that was sent, in their order.

    ``acknowledged`` is the last batch of which the server said that it has its end; after
    ``is_refused`` that may be without its events.  What it does happens after ``began_at``, and
    nothing is sent any more after ``over_at``, when control was known to be over.
    """

    machine: str
    began_at: float
    over_at: float = float("inf")
    batches: list[Sequence[Step]] = field(default_factory=list)
    acknowledged: int = 0
    is_refused: bool = False

    def hear(self, message: str | bytes) -> None:
        """Note what the server says."""
        told: Any = json.loads(message)
        if told["type"] == "refused":
            self.is_refused = True
        else:
            self.acknowledged = max(self.acknowledged, told["sequence"])

    def steps(self) -> Iterator[tuple[int, Step]]:
        """Every event, with the number of its batch."""
        for number, batch in enumerate(self.batches, 1):
            for step in batch:
                yield number, step
