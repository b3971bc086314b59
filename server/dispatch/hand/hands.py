"""The hands of this node, one for each lease: an older one ends at once.

One on another node ends when that node looks at the lease, which knows its newest hand.
"""

from collections.abc import Callable
from uuid import UUID

from schemas.inputs.hand import HandCloseCode
from server.dispatch.hand.hand import HandClosedError
from server.store.machines.controls import StoredControl

Close = Callable[[HandClosedError], None]


class Hands:
    """Knows how each is closed, by the hash of its lease; the newest one stays."""

    def __init__(self) -> None:
        self._open: dict[str, Close] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, lease_hash: str, close: Close) -> None:
        """A hand begins; an older one with the same lease ends."""
        older = self._open.pop(lease_hash, None)
        self._open[lease_hash] = close
        if older is not None:
            older(replaced())

    def end(self, lease_hash: str, close: Close) -> None:
        """A hand has ended."""
        if self._open.get(lease_hash) == close:
            del self._open[lease_hash]


def replaced() -> HandClosedError:
    """The same lease was used again, here or on another node."""
    return HandClosedError(HandCloseCode.REPLACED, "the same lease has a newer websocket")


def control_ended() -> HandClosedError:
    """The lease is over, or never was one of this caller's."""
    return HandClosedError(
        HandCloseCode.CONTROL_ENDED,
        "this control lease is over, or is another machine's or caller's",
    )


def end_of(hand_id: UUID | None, control: StoredControl | None) -> HandClosedError | None:
    """Why a hand ends, if it does, where its lease is ``control``, or over."""
    if control is None:
        return control_ended()
    return None if control.hand == hand_id else replaced()
