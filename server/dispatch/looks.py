"""Who looks at a machine's screen, elements and clipboard, as the audit has it: in stretches.

Whoever looks again soon goes on with the same stretch: programs look hundreds of times an hour.
What they saw or read is kept nowhere.
"""

import asyncio
import time
from collections import OrderedDict
from enum import Enum
from typing import Final, cast
from uuid import UUID

from schemas.resources.actions import Action
from server.dispatch.command import Sender
from server.dispatch.stretches import Stretch, StretchRecorder, counted

REST_SECONDS: Final = 60.0
"""Without a look for so long, a stretch is over."""

LONGEST_SECONDS: Final = 3600.0
"""Then the next stretch begins: who looks for days is found in each hour of them."""

MOST_OPEN: Final = 10_000
"""Stretches on this node; one more ends that in which nobody has looked for longest."""

CHECK_SECONDS: Final = 1.0


class LookedAt(Enum):
    """What somebody looks at: the action in the audit, and what one look and several are called."""

    SCREEN = ("screen.seen", "picture", "pictures")
    CLIPBOARD = ("clipboard.read", "reading", "readings")
    ELEMENTS = ("elements.read", "reading", "readings")


class _Looking:
    """Counts the looks of one stretch."""

    def __init__(
        self, sender: Sender, machine_id: str, at: LookedAt, into: StretchRecorder
    ) -> None:
        action, *self._words = at.value
        self.looks = 1
        self.stretch: Stretch = into.begin(
            sender, machine_id, cast("Action", action), self._in_words
        )

    def _in_words(self) -> str:
        one, many = self._words
        return counted(self.looks, one, many)

    @property
    def is_over(self) -> bool:
        """Whether the next look belongs to another stretch."""
        moment, stretch = time.monotonic(), self.stretch
        is_at_rest = moment - stretch.last >= REST_SECONDS
        return is_at_rest or moment - stretch.began >= LONGEST_SECONDS


class Looks:
    """Takes each look once it was granted; ``run`` ends what is over."""

    def __init__(self, stretches: StretchRecorder) -> None:
        self._stretches = stretches
        # Where somebody has looked last stands last.
        self._open: OrderedDict[tuple[UUID, UUID, str, LookedAt], _Looking] = OrderedDict()

    def check_room(self) -> None:
        """Raise StoreUnavailable where no further look could be recorded."""
        self._stretches.check_room()

    def looked(self, sender: Sender, machine_id: str, at: LookedAt) -> None:
        """Somebody has seen a picture, or read a text."""
        key = sender.organization_id, sender.token_id, machine_id, at
        looking = self._open.get(key)
        if looking is not None and not looking.is_over:
            looking.looks += 1
            self._go_on(key, looking)
            return
        if looking is not None or len(self._open) >= MOST_OPEN:
            self._end(key if looking is not None else next(iter(self._open)))
        self._open[key] = _Looking(sender, machine_id, at, self._stretches)

    def still_looks(self, sender: Sender, machine_id: str, at: LookedAt) -> None:
        """Somebody sees what they saw before: the stretch of it goes on, if there is one."""
        key = sender.organization_id, sender.token_id, machine_id, at
        if (looking := self._open.get(key)) is not None and not looking.is_over:
            self._go_on(key, looking)

    async def run(self) -> None:
        """End the stretches in which nobody looks any more, for ever."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            while self._open and self._open[key := next(iter(self._open))].is_over:
                self._end(key)

    def close(self) -> None:
        """End every stretch."""
        while self._open:
            self._end(next(iter(self._open)))

    def _go_on(self, key: tuple[UUID, UUID, str, LookedAt], looking: _Looking) -> None:
        self._open.move_to_end(key)
        self._stretches.go_on(looking.stretch)

    def _end(self, key: tuple[UUID, UUID, str, LookedAt]) -> None:
        self._stretches.end(self._open.pop(key).stretch)
