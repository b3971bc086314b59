"""When a request is sent again: never where that could do something twice."""

import random
import time
from dataclasses import dataclass, field
from typing import Final

from farhand._answers import Reply
from farhand.errors import (
    IdempotencyKeyInProgress,
    InternalError,
    MachineBusy,
    MachineUnavailable,
    OutcomePending,
    Refused,
    ServerBusy,
    ServerStopping,
    StorageUnavailable,
    TooManyStreams,
)

FIRST_CONTACT_SECONDS: Final = 10.0
"""A server that has never answered is given up after this, as its URL may be wrong; but one that
has held a request for so long is there."""

MOST_PAUSE_SECONDS: Final = 5.0
_DEFECTS: Final = 3
"""So often a server that answers with a defect of its own is asked."""

_NOTHING_WAS_DONE: Final = (MachineBusy, TooManyStreams, ServerBusy)
_FOR_NOW: Final = (IdempotencyKeyInProgress, OutcomePending, StorageUnavailable, ServerStopping)
_WEATHER: Final = (408, 425, 429, 500, 502, 503, 504)
"""What proxies say while a server is away."""


@dataclass
class Tries:
    """The tries of one request, within ``seconds`` in all.

    ``is_repeatable``: whether it does no more when it is sent twice, as it has a key or only reads.
    ``is_the_only``: whether there is no second try, whatever comes of the first.
    """

    is_repeatable: bool
    waits_for_machine: bool
    seconds: float
    is_the_only: bool = False
    _number: int = 0
    _defects: int = 0
    _ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends_at = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds until the time is over."""
        return self._ends_at - time.monotonic()

    def pause_after(self, reply: Reply, refusal: Refused | None) -> float | None:
        """How long to wait before the next try, in seconds; None where the answer stands."""
        self._number += 1
        if not self._is_for_now(reply, refusal):
            return None
        return self._pause(reply.headers.get("Retry-After", ""))

    def pause_after_none(self, *, was_sent: bool) -> float | None:
        """The same where no answer came to a request that was sent, or could not be."""
        self._number += 1
        return None if was_sent and not self.is_repeatable else self._pause()

    def _is_for_now(self, reply: Reply, refusal: Refused | None) -> bool:
        match refusal:
            case _ if reply.is_success:
                return False
            case None:
                return self.is_repeatable and reply.status in _WEATHER
            case MachineUnavailable():
                return self.waits_for_machine
            case InternalError():
                self._defects += 1
                return self.is_repeatable and self._defects < _DEFECTS
            case _ if isinstance(refusal, _FOR_NOW):
                return self.is_repeatable
            case _:
                return isinstance(refusal, _NOTHING_WAS_DONE)

    def _pause(self, retry_after: str = "") -> float | None:
        if retry_after.isascii() and retry_after.isdigit() and int(retry_after[:9]):
            pause = float(retry_after[:9])
        else:
            # Doubled each time; the chance keeps many clients of one server apart.
            longest = min(0.1 * 2 ** min(self._number, 10), MOST_PAUSE_SECONDS)
            pause = longest * random.uniform(0.5, 1.0)  # noqa: S311 - nothing secret
        return pause if pause < self.left and not self.is_the_only else None
