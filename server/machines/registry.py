"""Which machines are connected to this node."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Protocol
from uuid import UUID

from schemas.link.messages import CloseCode, DesktopChanged, Hello, Released
from server.machines.bounded_lines import BoundedLines
from server.machines.desktop import DesktopPublisher
from server.machines.errors import LinkDownError
from server.machines.socket import LinkSocket
from server.machines.turns import Turns
from server.store.errors import NotFound, StoreUnavailable
from server.store.machines import ClientSummary, MachineStore
from server.store.tokens import TokenStore

logger = logging.getLogger(__name__)

TICK_SECONDS = 1.0

ADMITTED_AT_ONCE = 16
TURN_SECONDS = 1.0
"""After a restart all machines greet at once.  One after another they are of use one after
another; all together would be at the end, and whoever asks meanwhile would wait for all of them.
"""

CLOSINGS_SAID = 10
CLOSINGS_SECONDS = 60.0
"""So many lines in so many seconds say of one machine why its links are closed."""

Key = tuple[UUID, str]


class OpenCommands(Protocol):
    """The commands that earlier links of a machine left open."""

    async def judge(self, link: LinkSocket) -> None:
        """Store as unknown those of which the machine's journal can say nothing any more."""

    async def settle(self, link: LinkSocket) -> None:
        """Have the machine say what became of the others."""


def _nobody_listens(_organization_id: UUID, _machine_id: str) -> None:
    """Stands in until somebody does."""


def _nobody_asks(_organization_id: UUID, _machine_id: str, _released: Released) -> None:
    """Stands in until somebody does."""


class LinkRegistry:
    """The live links of this node, one for each machine: the newest.

    ``opened_links``, ``reconnects`` (of machines that had been there before) and ``takeovers``
    count what has happened.

    ``on_change`` is called with the organization and the id of a machine whose link came or went,
    or whose desktop did; ``on_released`` also with what the machine released that a killed machine
    client had left pressed.
    """

    def __init__(
        self,
        machines: MachineStore,
        tokens: TokenStore,
        token_check_seconds: float,
    ) -> None:
        self._machines = machines
        self._tokens = tokens
        self._token_check_seconds = token_check_seconds
        # In the order in which they were opened, all of them and each machine's own.
        self._open: dict[LinkSocket, None] = {}
        self._open_of: dict[Key, dict[LinkSocket, None]] = {}
        self._live: dict[Key, LinkSocket] = {}
        self._turns = Turns(ADMITTED_AT_ONCE, TURN_SECONDS)
        self._closings = BoundedLines(CLOSINGS_SAID, CLOSINGS_SECONDS, time.monotonic)
        self.opened_links = self.reconnects = self.takeovers = 0
        self.on_change: Callable[[UUID, str], None] = _nobody_listens
        self.on_released: Callable[[UUID, str, Released], None] = _nobody_asks
        self._desktops = DesktopPublisher(machines, self._changed)

    def find(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that takes inputs, or None."""
        link = self._live.get((organization_id, machine_id))
        return link if link is not None and link.is_up else None

    def ending(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The link of a machine that was live and is being closed from this side, or None."""
        link = self._live.get((organization_id, machine_id))
        return link if link is not None and link.is_over and link.over_reason else None

    @property
    def open_links(self) -> int:
        """How many websockets of machines are open, those that have not greeted yet as well."""
        return len(self._open)

    @property
    def connected(self) -> int:
        """How many machines are connected."""
        return sum(link.is_up for link in self._live.values())

    @property
    def without_input(self) -> int:
        """How many of them have no desktop that takes input."""
        return sum(link.is_up and not link.desktop.input.available for link in self._live.values())

    @property
    def without_screen(self) -> int:
        """How many of them should show their screen and cannot."""
        return sum(link.is_up and link.desktop.is_dark for link in self._live.values())

    def __iter__(self) -> Iterator[LinkSocket]:
        return iter(tuple(self._open))

    def opened(self, socket: LinkSocket) -> None:
        """A websocket is open; its hello will follow."""
        self._open[socket] = None
        self._open_of.setdefault(_key(socket), {})[socket] = None
        socket.closing = self._closing
        socket.desktop_changed = self._desktop_changed

    async def admit(self, socket: LinkSocket, hello: Hello, open_commands: OpenCommands) -> None:
        """Make this the machine's link: record it, replace the older one, settle what is open.

        A client that was taken over before, and so yields, replaces nobody: it is sent away as
        long as another has the link, which two clients with one token would else take from each
        other for ever.

        The order matters, each step after the one before has ended: what a lost journal leaves
        unknown is stored before the journal counts its number up and looks like a newer one, and
        everything else is asked about before anything new is sent.  Raises LinkDownError where the
        link ends meanwhile.
        """
        if socket.yields and self._has_other_link(socket):
            socket.close(
                CloseCode.TAKEN_OVER,
                "another connection with this machine's token has the link; "
                "every machine needs a token of its own",
            )
            return
        # Whoever greets later is the newest, however long the database takes for either.
        self._replace_earlier(socket)
        async with self._turns.taken():
            if socket.is_over:
                raise LinkDownError
            await self._bring_up(socket, hello, open_commands)

    async def _bring_up(
        self, socket: LinkSocket, hello: Hello, open_commands: OpenCommands
    ) -> None:
        key = _key(socket)
        summary = ClientSummary(hello.platform, hello.client_version, tuple(hello.displays))
        try:
            machine = await self._machines.begin_link(*key, summary)
        except NotFound:
            socket.close(CloseCode.MACHINE_REMOVED, "this machine was removed")
            return
        socket.epoch, socket.paused = machine.epoch, machine.paused
        if socket.is_over:
            await self._note_end(socket, "it ended before it was greeted")
            raise LinkDownError
        # Told before the welcome, after which the machine client says it no more.
        if hello.released is not None:
            self.on_released(*key, hello.released)
        socket.welcome()
        await socket.until_ready()
        await open_commands.judge(socket)
        await socket.until_up()
        self._live[key] = socket
        self.opened_links += 1
        self.reconnects += socket.epoch > 1
        self.takeovers += socket.took_over
        self._changed(socket)
        logger.info("machine=%s link=%s connected", socket.machine_id, socket.link_id)
        await open_commands.settle(socket)
        socket.settled()

    async def closed(self, socket: LinkSocket, reason: str) -> None:
        """A websocket is closed, for whatever reason."""
        key = _key(socket)
        self._open.pop(socket, None)
        if (of_machine := self._open_of.get(key)) is not None:
            of_machine.pop(socket, None)
            if not of_machine:
                del self._open_of[key]
        socket.lost()
        if self._live.get(key) is socket:
            del self._live[key]
        if socket.epoch:
            logger.info(
                "machine=%s link=%s disconnected: %s", socket.machine_id, socket.link_id, reason
            )
            await self._note_end(socket, socket.over_reason or reason)
            self._changed(socket)

    def _closing(self, socket: LinkSocket) -> None:
        may_be_said, unsaid = self._closings.count(_key(socket))
        if may_be_said:
            level = logging.INFO
            if socket.over_code is CloseCode.MESSAGE_INVALID:
                level = logging.WARNING
            logger.log(
                level,
                "machine=%s link=%s closing %d: %s%s",
                *(socket.machine_id, socket.link_id, socket.over_code, socket.over_reason),
                f" ({unsaid} more since the last line)" if unsaid else "",
            )
        self._changed(socket)

    def _desktop_changed(self, socket: LinkSocket, desktop: DesktopChanged) -> None:
        self._desktops.changed(socket)
        if desktop.released is not None:
            self.on_released(*_key(socket), desktop.released)

    def _changed(self, socket: LinkSocket) -> None:
        if socket.epoch:
            self.on_change(socket.organization_id, socket.machine_id)

    def _has_other_link(self, socket: LinkSocket) -> bool:
        """Whether another link of this machine is live, or has said its hello and will be."""
        return any(
            other is not socket and other.is_greeted
            for other in self._open_of.get(_key(socket), ())
        )

    def _replace_earlier(self, socket: LinkSocket) -> None:
        """Close the links of this machine that were opened before this one."""
        for other in tuple(self._open_of.get(_key(socket), ())):
            if other is socket:
                return
            socket.took_over = socket.took_over or other.is_up
            other.give_way()

    async def _note_end(self, socket: LinkSocket, reason: str) -> None:
        try:
            await self._machines.end_link(
                socket.organization_id, socket.machine_id, socket.epoch, reason
            )
        except StoreUnavailable as error:
            # The next link begins anew; only since when there is none stays unsaid.
            logger.warning("machine=%s end of a link not noted: %s", socket.machine_id, error)

    async def keep_time(self) -> None:
        """Tick every link once a second, for ever; nothing else is waited for between."""
        while True:
            for socket in self:
                try:
                    socket.tick()
                except Exception:  # the others' heartbeats are to go on all the same
                    logger.exception("machine=%s link could not be ticked", socket.machine_id)
            await asyncio.sleep(TICK_SECONDS)

    async def check_tokens(self) -> None:
        """Close the links whose token was revoked or has expired, for ever."""
        while True:
            await self._close_unauthorized()
            await asyncio.sleep(self._token_check_seconds)

    async def _close_unauthorized(self) -> None:
        sockets = tuple(self)
        if not sockets:
            return
        try:
            usable = await self._tokens.usable({socket.token_id for socket in sockets})
        except StoreUnavailable:
            return  # Nobody can revoke anything now either; the next look tells.
        for socket in sockets:
            if socket.token_id not in usable:
                socket.close(CloseCode.TOKEN_REVOKED, "the token was revoked or has expired")

    def close_all(self, code: CloseCode, reason: str) -> None:
        """End every link of this node."""
        for socket in self:
            socket.close(code, reason)


def _key(socket: LinkSocket) -> Key:
    return socket.organization_id, socket.machine_id
