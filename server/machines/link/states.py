"""The states of a link, in the order in which it comes to them."""

from enum import Enum, auto


class State(Enum):
    """How far a link has come."""

    AWAITING_HELLO = auto()
    ADMITTING = auto()
    WELCOMED = auto()
    READY = auto()
    MARKING = auto()
    RECONCILING = auto()
    LIVE = auto()
    CLOSING = auto()
    LOST = auto()


UP = (State.RECONCILING, State.LIVE)
GREETED = (State.WELCOMED, State.READY, State.MARKING, *UP)
