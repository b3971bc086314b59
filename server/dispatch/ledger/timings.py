"""Where an input spends its time."""

from dataclasses import dataclass, field
from time import perf_counter


@dataclass(slots=True)
class Timings:
    """When a command was where, by seconds of a clock that only differences mean something of.

    Each is 0 until then; only what has a key is claimed.
    """

    accepted: float = field(default_factory=perf_counter)
    claimed: float = 0.0
    sent: float = 0.0
    acknowledged: float = 0.0
