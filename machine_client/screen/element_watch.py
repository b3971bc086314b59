"""Waits for elements: which of several conditions one has met, asked every now and then."""

import time
from collections.abc import Sequence
from typing import Final

from machine_client.desktop.base import DesktopElements
from schemas.inputs.waits import Condition, ElementSeen
from schemas.values.pictures import Region

SHORTEST_PAUSE: Final = 0.15
"""Seconds between two looks."""

SHARE: Final = 0.2
"""Of the time, for looking: programs have to answer each look."""


class ElementWatch:
    """Says when the first of some conditions is met that are about elements."""

    def __init__(self, conditions: Sequence[Condition], elements: DesktopElements) -> None:
        self._conditions = [
            (number, each)
            for number, each in enumerate(conditions)
            if isinstance(each, ElementSeen)
        ]
        self._has_all = len(self._conditions) == len(conditions)
        self._elements = elements
        self._looks_again_at = 0.0

    @property
    def has_all(self) -> bool:
        """Whether all that is waited for are elements, and nobody looks at the screen itself."""
        return self._has_all

    def met(self) -> tuple[int, Region | None] | None:
        """Which condition is met, and where; None where none is, or it is too soon to ask again.

        Raises DesktopError where elements are not told.
        """
        began_at = time.monotonic()
        if began_at < self._looks_again_at:
            return None
        for number, condition in self._conditions:
            is_there, where = self._elements.sight(condition.element)
            if is_there is not None and is_there is not condition.gone:
                return number, where
        now = time.monotonic()
        self._looks_again_at = now + max(SHORTEST_PAUSE, (now - began_at) / SHARE)
        return None
