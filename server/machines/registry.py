"""Which machines are connected to this node."""

from collections.abc import Iterator
from uuid import UUID

from schemas.link.messages import CloseCode
from server.machines.socket import LinkSocket

Key = tuple[UUID, str]


class LinkRegistry:
    """The links of this node, and of each machine the one that is up: its newest.

    ``opened_links``, ``reconnects`` (of machines that had been there before) and ``takeovers``
    count what has happened.
    """

    def __init__(self) -> None:
        # In the order in which they were opened, all of them and each machine's own.
        self._open: dict[LinkSocket, None] = {}
        self._open_of: dict[Key, dict[LinkSocket, None]] = {}
        self._registered: dict[Key, LinkSocket] = {}
        self.opened_links = self.reconnects = self.takeovers = 0

    def __iter__(self) -> Iterator[LinkSocket]:
        return iter(tuple(self._open))

    def find(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that is up, or None."""
        link = self._registered.get((organization_id, machine_id))
        return link if link is not None and link.is_up else None

    def ending(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that was up and is being closed from this side, or None."""
        link = self._registered.get((organization_id, machine_id))
        return link if link is not None and link.is_over and link.over_reason else None

    def links_of(self, organization_id: UUID, machine_id: str) -> tuple[LinkSocket, ...]:
        """All open links of a machine, the oldest first; most have not greeted yet, or are over."""
        return tuple(self._open_of.get((organization_id, machine_id), ()))

    @property
    def open_links(self) -> int:
        """How many websockets of machines are open, those that have not greeted yet as well."""
        return len(self._open)

    @property
    def connected(self) -> int:
        """How many machines are connected."""
        return sum(link.is_up for link in self._registered.values())

    @property
    def without_input(self) -> int:
        """How many of them have no desktop that takes input."""
        links = self._registered.values()
        return sum(link.is_up and link.no_input is not None for link in links)

    @property
    def without_screen(self) -> int:
        """How many of them should show their screen and cannot."""
        return sum(link.is_up and link.desktop.is_dark for link in self._registered.values())

    def opened(self, link: LinkSocket) -> None:
        """A websocket is open; its hello will follow."""
        self._open[link] = None
        self._open_of.setdefault(_key(link), {})[link] = None

    def register(self, link: LinkSocket) -> None:
        """A link is up: from now on it is the machine's."""
        self._registered[_key(link)] = link
        self.opened_links += 1
        self.reconnects += link.epoch > 1
        self.takeovers += link.took_over

    def closed(self, link: LinkSocket) -> None:
        """A websocket is closed."""
        self._open.pop(link, None)
        if (of_machine := self._open_of.get(_key(link))) is not None:
            of_machine.pop(link, None)
            if not of_machine:
                del self._open_of[_key(link)]
        if self._registered.get(_key(link)) is link:
            del self._registered[_key(link)]

    def close_all(self, code: CloseCode, reason: str) -> None:
        """End every link of this node."""
        for link in self:
            link.close(code, reason)


def _key(link: LinkSocket) -> Key:
    return link.organization_id, link.machine_id
