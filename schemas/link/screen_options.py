"""How a live screen is wanted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """A live screen, at most so large; None is the screen's own size.

    ``rate`` is pictures a second, at most.
    """

    width: int | None
    height: int | None
    quality: int
    rate: float
