"""Why a link is closed: the codes of the websocket's close frames, and what they tell."""

from enum import IntEnum
from typing import Final

MAX_REASON_BYTES: Final = 123
"""What RFC 6455 leaves for a close reason in a control frame."""

MOVED_REASON = "this node ends: come back to another"
"""Goes with CloseCode.MOVED, and is why the machine is offline until it is back."""


class CloseCode(IntEnum):
    """Why a link was closed.

    4000 to 4499 mean that the machine client should reconnect; 4500 to 4999 that it must stop,
    because trying again cannot help.  Where a newer connection with the same token takes over, the
    older is closed with TAKEN_OVER, after which it comes back as one that ``yields``.  MOVED is
    said by a node that ends while others go on: the machine client comes back at once.
    """

    SERVER_STOPPING = 4000
    HEARTBEAT_MISSED = 4001
    OVERFLOW = 4002
    SERVER_ERROR = 4003
    GREETING_MISSED = 4004
    REPORT_MISSED = 4005
    TAKEN_OVER = 4006
    JOURNAL_FAILED = 4007
    MOVED = 4008
    TOKEN_REVOKED = 4501
    MACHINE_REMOVED = 4502
    PROTOCOL_UNSUPPORTED = 4503
    MESSAGE_INVALID = 4504

    @property
    def says_stop(self) -> bool:
        """Whether a client that is closed with this code must not come back by itself."""
        return says_stop(self)


def says_stop(code: int | None) -> bool:
    """Whether a close code, known to this version or not, tells the machine client to stop."""
    return code is not None and 4500 <= code <= 4999


def fitting(reason: str) -> str:
    """Cut a reason to what a close frame can carry, at a character's border."""
    return reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
