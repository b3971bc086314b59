"""What a bus is, whichever carries the messages; and what may go wrong with it."""

import re
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

MAX_SENT_BYTES: Final = 512 * 1024
"""A request and what is published are no longer than that: they travel in one piece."""

MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
"""A reply, such as a picture, may be so long: it travels in pieces."""

TOO_BUSY: Final = "the node that would answer has too much to do"
"""What BusAwayError says for a request that a node was too busy to take."""

_SUBJECT: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")

Respond = Callable[[bytes], Awaitable[bytes]]
"""Makes the reply to a request."""

OnMessage = Callable[[bytes], None]
"""Is given each message that was published; it must not block."""


class BusError(Exception):
    """The bus could not do what it was asked; the message is a sentence for a person."""


class NoResponderError(BusError):
    """Nobody answers this subject: nobody has handled the request."""


class BusAwayError(BusError):
    """The request did not leave, or met a node that has too much to do: nobody has handled it."""


class ReplyLostError(BusError):
    """No reply came in time, or the connection was lost meanwhile.

    The request may have been handled or not, and may still be.
    """


class Registration(Protocol):
    """Somebody who takes messages."""

    def close(self) -> None:
        """Take no more of them.  It may be called twice."""


class Bus(Protocol):
    """Carries messages between nodes, each at most once, and keeps none.

    A subject is words of letters, digits, ``_`` and ``-`` with dots between them, and has no
    wildcards; a ValueError says so of any other.  All is called in the event loop's thread.
    """

    @property
    def is_connected(self) -> bool:
        """Whether messages can leave now, and those for this node's registrations come in."""

    @property
    def round_trip_seconds(self) -> float:
        """How long the bus took to answer the last time that it was asked; 0 while it is away."""

    @property
    def refused(self) -> int:
        """How many messages were dropped: they were malformed, too long, or too many at once."""

    async def request(self, subject: str, message: bytes, timeout: float) -> bytes:
        """Send a request to one of those who answer a subject; what it replies.

        ``timeout`` is in seconds and covers everything.

        Raises NoResponderError and BusAwayError where nobody has handled the request,
        ReplyLostError where that is not known, and ValueError for a message of more than
        MAX_SENT_BYTES.
        """

    def publish(self, subject: str, message: bytes) -> None:
        """Send a message to all who have subscribed to a subject, on this node too.

        Nothing comes of it while the bus is away or takes no more.  Raises ValueError for a message
        of more than MAX_SENT_BYTES.
        """

    def subscribe(self, subject: str, on_message: OnMessage) -> Registration:
        """Take every message that is published on a subject.

        It takes effect soon after, and again each time the bus is back.  What ``on_message`` raises
        is logged.
        """

    def answer(self, subject: str, respond: Respond) -> Registration:
        """Answer requests on a subject; of several who do, one gets each request.

        It takes effect soon after, and again each time the bus is back.  ``respond`` runs as a task
        for each request.  What it raises is logged, and the requester waits until its timeout; the
        same for a reply of more than MAX_REPLY_BYTES.  After ``close`` of the registration, what it
        has begun goes on.
        """

    def on_reconnect(self, call: Callable[[], None]) -> None:
        """Call each time that the bus is back; also the first time, if it is away until then.

        By then all registrations are in effect again.  Whatever was published meanwhile is lost.
        """

    async def close(self) -> None:
        """Take and send nothing more.  Open requests end with ReplyLostError."""


def check_sent(subject: str, message: bytes) -> None:
    """Raise ValueError for what cannot be sent."""
    check_subject(subject)
    if len(message) > MAX_SENT_BYTES:
        raise ValueError(f"{len(message)} bytes are too many: at most {MAX_SENT_BYTES} can be sent")


def check_subject(subject: str) -> None:
    """Raise ValueError for what is no subject; wildcards are none."""
    if _SUBJECT.fullmatch(subject) is None:
        raise ValueError(
            f"{subject!r} is no subject: words of letters, digits, _ and - with dots between them"
        )
