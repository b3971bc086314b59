"""Which machines are connected to this node."""

from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from schemas.link.close_codes import CloseCode
from server.machines.link.restrictions import NONE
from server.machines.link_timers import LinkTimers
from server.machines.socket import LinkSocket
from server.store.machines.controls import KeptTo

Key = tuple[UUID, str]


class LinkRegistry:
    """The links of this node, and of each machine the one that is up: its newest.

    ``opened_links``, ``reconnects`` (of machines that had been there before), ``takeovers`` and
    ``moved`` (links that were sent to other nodes) count what has happened.  ``timers`` say when
    each is to be ticked, ``restricted`` what the links that are up keep to, where a pause or
    control stands between callers and their machines.  ``troubled`` has, by their organizations,
    the machines whose links are not simply up: they take no input, show no screen, took over, share
    their tokens, or are being closed; and ``linked`` all machines with links that were up and are
    not closed.
    """

    def __init__(self) -> None:
        self.timers = LinkTimers()
        self.restricted: dict[Key, KeptTo] = {}
        self.troubled: defaultdict[UUID, set[str]] = defaultdict(set)
        self.linked: defaultdict[UUID, set[str]] = defaultdict(set)
        # In the order in which they were opened, all of them and each machine's own.
        self._open: dict[LinkSocket, None] = {}
        self._open_of: dict[Key, tuple[LinkSocket, ...]] = {}
        self._registered: dict[Key, LinkSocket] = {}
        self.opened_links = self.reconnects = self.takeovers = self.moved = 0

    def __iter__(self) -> Iterator[LinkSocket]:
        return iter(tuple(self._open))

    def find(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that is up, or None."""
        link = self._registered.get((organization_id, machine_id))
        return link if link is not None and link.is_up else None

    def is_private(self, organization_id: UUID, machine_id: str) -> bool:
        """Whether somebody has private control of a machine whose link is here and up."""
        link = self.find(organization_id, machine_id)
        return link is not None and link.privacy.is_private

    def ending(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that was up and is being closed from this side, or None."""
        link = self._registered.get((organization_id, machine_id))
        return link if link is not None and link.is_over and link.over_reason else None

    def links_of(self, organization_id: UUID, machine_id: str) -> tuple[LinkSocket, ...]:
        """All open links of a machine, the oldest first; most have not greeted yet, or are over."""
        return self._open_of.get((organization_id, machine_id), ())

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
        return sum(link.is_up and link.availability.no_input is not None for link in links)

    @property
    def without_screen(self) -> int:
        """How many of them should show their screen and cannot."""
        return sum(link.is_up and link.desktop.is_dark for link in self._registered.values())

    def opened(self, link: LinkSocket) -> None:
        """A websocket is open; its hello will follow."""
        self._open[link] = None
        self._open_of[_key(link)] = (*self._open_of.get(_key(link), ()), link)

    def register(self, link: LinkSocket) -> None:
        """A link is up: from now on it is the machine's."""
        self._registered[_key(link)] = link
        self.restrictions_read(link)
        self.state_changed(link)
        self.linked[link.organization_id].add(link.machine_id)
        self.opened_links += 1
        self.reconnects += link.epoch > 1
        self.takeovers += link.took_over

    def restrictions_read(self, link: LinkSocket) -> None:
        """A link knows whom its machine takes inputs from."""
        if self._registered.get(_key(link)) is link:
            kept_to = link.availability.restrictions
            if kept_to == NONE:
                self.restricted.pop(_key(link), None)
            else:
                control = kept_to.control
                self.restricted[_key(link)] = KeptTo(
                    paused=kept_to.pause is not None,
                    lease_hash=None if control is None else control.lease_hash,
                    private=control is not None and control.private_since is not None,
                )

    def state_changed(self, link: LinkSocket) -> None:
        """A link took over, is being closed, or its desktop is another now."""
        if self._registered.get(_key(link)) is not link:
            return
        if link.is_up and not _is_troubled(link):
            self.troubled[link.organization_id].discard(link.machine_id)
        else:
            self.troubled[link.organization_id].add(link.machine_id)

    def closed(self, link: LinkSocket) -> None:
        """A websocket is closed."""
        self._open.pop(link, None)
        self.timers.forget(link)
        others = tuple(each for each in self._open_of.pop(_key(link), ()) if each is not link)
        if others:
            self._open_of[_key(link)] = others
        if self._registered.get(_key(link)) is link:
            del self._registered[_key(link)]
            self.restricted.pop(_key(link), None)
            for machines in (self.troubled, self.linked):
                machines[link.organization_id].discard(link.machine_id)

    def close_all(self, code: CloseCode, reason: str) -> None:
        """End every link of this node."""
        for link in self:
            link.close(code, reason)


def _is_troubled(link: LinkSocket) -> bool:
    is_without_input = link.availability.no_input is not None
    return is_without_input or link.desktop.is_dark or link.took_over or bool(link.rivals)


def _key(link: LinkSocket) -> Key:
    return link.organization_id, link.machine_id
