"""Long texts on their way to who pastes: piece by piece, each when the one before was taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from Xlib import X

from machine_client.desktop.x11.clipboard.selections import AT_ONCE_BYTES

PATIENCE_SECONDS: Final = 10.0
"""For who pastes to take a piece; after that it is taken for gone."""

MOST_TRANSFERS: Final = 32


@dataclass(slots=True)
class _Transfer:
    """One text for one window; ``given`` is how much of it was."""

    window: Any
    property: int
    type: int
    content: bytes
    give_up_at: float
    given: int = 0
    is_over: bool = False


class Transfers:
    """Gives texts in pieces (INCR); ``clock`` is seconds of a monotonic clock."""

    def __init__(self, incr: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._incr = incr
        self._clock = clock
        self._open: dict[tuple[int, int], _Transfer] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, window: Any, property_: int, type_: int, content: bytes) -> bool:
        """Announce a text; False where as many are on their way as may be."""
        self.forget_late()
        key = window.id, property_
        if key not in self._open and len(self._open) >= MOST_TRANSFERS:
            return False
        self._open[key] = _Transfer(
            window, property_, type_, content, self._clock() + PATIENCE_SECONDS
        )
        # Asked for before the announcement, so that its deletion is told.
        window.change_attributes(event_mask=X.PropertyChangeMask)
        window.change_property(property_, self._incr, 32, [len(content)])
        return True

    def taken(self, window: int, property_: int) -> None:
        """Who pastes has taken what was in a property: the next piece may follow."""
        transfer = self._open.get((window, property_))
        if transfer is None:
            return
        if transfer.is_over:
            self._end(transfer)
            return
        piece = transfer.content[transfer.given : transfer.given + AT_ONCE_BYTES]
        transfer.window.change_property(property_, transfer.type, 8, piece)
        transfer.given += len(piece)
        # An empty piece says that this was all.
        transfer.is_over = not piece
        transfer.give_up_at = self._clock() + PATIENCE_SECONDS

    def forget_late(self) -> None:
        """Give up what nobody has taken a piece of for long."""
        now = self._clock()
        for transfer in [each for each in self._open.values() if each.give_up_at <= now]:
            self._end(transfer)

    def _end(self, transfer: _Transfer) -> None:
        del self._open[transfer.window.id, transfer.property]
        if all(each.window.id != transfer.window.id for each in self._open.values()):
            transfer.window.change_attributes(event_mask=X.NoEventMask)
