"""What both sides of a link agree on: the protocol that they speak, and the link's terms."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from schemas.link.messages import MAX_MESSAGE_BYTES, PROTOCOLS, Hello, Limits, Welcome
from schemas.link.picture_frames import MAX_PICTURE_BYTES

GREETING_SECONDS = 10.0
"""For the machine client to say what is next, until the link is up."""

ADMISSION_SECONDS = 60.0
"""For the server to admit it.  Many machines that come back at once wait for their turns, and one
that was sent away meanwhile would only come again and wait anew."""

LEAST_SPREAD_SECONDS = 1.0
MOST_SPREAD_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a hello said that is needed for as long as the link stands: all else would be a burden.

    ``journal_sequence`` is the journal's number in it.
    """

    boot_id: str
    journal_id: UUID
    journal_sequence: int
    yields: bool
    host: str

    @classmethod
    def of(cls, hello: Hello) -> "Greeting":
        """That of a hello."""
        journal, host = hello.journal, hello.host or "without a name"
        return cls(hello.boot_id, journal.id, journal.sequence, hello.yields, host)


@dataclass(frozen=True, slots=True)
class LinkTerms:
    """What the server asks of every link.

    ``reconnect_spread_seconds`` is over how long machines should spread that come back at once.
    """

    unanswered_limit: int
    heartbeat_seconds: float
    largest_picture: int = MAX_PICTURE_BYTES
    reconnect_spread_seconds: float = 0.0

    def welcome(self, protocol: int, link_id: UUID, machine_id: str, server_time: int) -> Welcome:
        """What the machine client is told of them."""
        return Welcome(
            protocol=protocol,
            link_id=link_id,
            machine_id=machine_id,
            server_time=server_time,
            heartbeat_seconds=self.heartbeat_seconds,
            limits=Limits(
                unanswered_inputs=self.unanswered_limit,
                message_bytes=MAX_MESSAGE_BYTES,
                picture_bytes=self.largest_picture,
            ),
            reconnect_spread_seconds=self.reconnect_spread_seconds,
        )


def reconnect_spread(links: int, per_second: float) -> float:
    """Over how many seconds so many machines should come back when all lose the server at once."""
    return min(max(LEAST_SPREAD_SECONDS, links / per_second), MOST_SPREAD_SECONDS)


class NoCommonProtocolError(Exception):
    """The two sides have no version in common; ``str()`` says which of them is too old."""


def common_protocol(hello: Hello) -> int:
    """The newest version that the machine client and this server speak.

    Raises NoCommonProtocolError.
    """
    common = set(PROTOCOLS).intersection(hello.protocols)
    if common:
        return max(common)
    which = "machine client" if max(hello.protocols) < PROTOCOLS[0] else "server"
    raise NoCommonProtocolError(
        f"this server speaks protocol {_listed(PROTOCOLS)}, the machine client "
        f"{_listed(hello.protocols)}: the {which} is too old"
    )


def _listed(protocols: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(protocols)))
