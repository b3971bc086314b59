"""How long a task that failed rests before it begins again, in either program."""

from typing import Final

FIRST_SECONDS: Final = 0.5
"""Doubled each time."""

LONGEST_SECONDS: Final = 30.0
"""The bound of that, and so of what a task that always fails writes to the log."""

STEADY_SECONDS: Final = 60.0
"""A task that ran for so long before it failed is given the first pause again."""


class Pauses:
    """The pauses of one task."""

    def __init__(self) -> None:
        self._next = FIRST_SECONDS

    def next(self) -> float:
        """The next pause, in seconds."""
        pause, self._next = self._next, min(2 * self._next, LONGEST_SECONDS)
        return pause

    def after(self, ran_for: float) -> float:
        """The pause after a run of so many seconds."""
        if ran_for >= STEADY_SECONDS:
            self._next = FIRST_SECONDS
        return self.next()
