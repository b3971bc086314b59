"""The greeting of machines, from the open websocket to a link that takes inputs, and its end."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from schemas.link.close_codes import CloseCode
from schemas.link.messages import DesktopChanged, Hello, Released
from server.clock import milliseconds
from server.errors import NotFound, StoreUnavailable
from server.machines.admission_queue import AdmissionQueue
from server.machines.connection import Connection
from server.machines.desktop_publisher import DesktopPublisher
from server.machines.desktop_troubles import DesktopTroubles, Troubles
from server.machines.link.availability import STUCK
from server.machines.link.errors import LinkDownError
from server.machines.link.greeting import LinkTerms, reconnect_spread
from server.machines.link.questions.screen import FrameArrived
from server.machines.link.restrictions import Control, Pause, Restrictions
from server.machines.link.rivals import Rival, explained
from server.machines.log_rate_limit import LogRateLimit
from server.machines.registry import LinkRegistry
from server.machines.shown_frames import ShownFrames
from server.machines.socket import LinkSocket
from server.process.node import Node
from server.store.machines.controls import StoredControl
from server.store.machines.documents import ClientSummary, LinkFacts, Machine
from server.store.machines.machines import MachineStore
from server.store.machines.recording_marks import RecordingMark
from server.store.retrying import retry
from server.tasks import Tasks

logger = logging.getLogger(__name__)

ADMITTED_AT_ONCE = 128
SECONDS_FOR_EACH = 1.0
"""After a restart all machines greet at once.  One after another they are of use one after
another; all together would be at the end, and whoever asks meanwhile would wait for all of them.
"""

RESTRICTING_SECONDS = 5.0
"""For a link to be told whom its machine takes inputs from, while whoever decided it waits."""

CLOSINGS_SAID = 10
CLOSINGS_SECONDS = 60.0
"""So many lines in so many seconds say of one machine why its links are closed."""


class OpenCommands(Protocol):
    """The commands that earlier links of a machine left open."""

    async def mark_lost(self, link: LinkSocket) -> None:
        """Store as unknown those of which the machine's journal can say nothing any more."""

    async def reconcile(self, link: LinkSocket) -> None:
        """Have the machine say what became of the others."""


class MachineListener(Protocol):
    """Who is told that something about a machine has changed."""

    def changed(self, organization_id: UUID, machine_id: str) -> None:
        """Its link came or went, or its desktop did, or got stuck, or is not any more."""

    def released(self, organization_id: UUID, machine_id: str, released: Released) -> None:
        """It has released what a machine client that was killed had left pressed."""


class OtherNodes(Protocol):
    """The nodes that may have links of the same machines."""

    def link_came_up(self, link: LinkSocket) -> None:
        """A link is its machine's newest from now on."""

    def link_closed(self, link: LinkSocket) -> None:
        """A link is closed, which may never have come up."""

    async def has_link(self, organization_id: UUID, machine_id: str, rival: Rival) -> bool:
        """Whether another node has a link of this machine, which is told of the rival then."""

    async def give_way(self, machine: Machine) -> bool:
        """Have another node close the link before this one; whether it was up until now."""


class RecordingListener(Protocol):
    """Who has what is done on machines recorded."""

    def recordings_read(self, link: LinkSocket, marks: Sequence[RecordingMark]) -> None:
        """A link that is up knows who records its machine."""

    def link_closed(self, link: LinkSocket) -> None:
        """A link is closed, which may never have come up."""


class Admission:
    """Opens links, admits the machines that greet on them, and notes the links' ends.

    ``reconnects_per_second`` is how many machines should come back in a second, at most, when all
    lose the server at once.
    """

    def __init__(
        self,
        registry: LinkRegistry,
        machines: MachineStore,
        open_commands: OpenCommands,
        listener: MachineListener,
        other_nodes: OtherNodes,
        troubles: Troubles,
        recordings: RecordingListener,
        background: Tasks,
        *,
        frames: ShownFrames,
        node: Node,
        terms: LinkTerms,
        reconnects_per_second: float,
    ) -> None:
        self._terms = terms
        self._reconnects_per_second = reconnects_per_second
        self._registry = registry
        self._machines = machines
        self._open_commands = open_commands
        self._listener = listener
        self._other_nodes = other_nodes
        self._frames = frames
        self._recordings = recordings
        self._node = node
        self._background = background
        self._queue = AdmissionQueue(ADMITTED_AT_ONCE, SECONDS_FOR_EACH)
        self._closings = LogRateLimit(CLOSINGS_SAID, CLOSINGS_SECONDS, time.monotonic)
        self._troubles = DesktopTroubles(troubles, background)
        self._desktops = DesktopPublisher(machines, self._changed, background)

    def open(
        self,
        connection: Connection,
        *,
        organization_id: UUID,
        machine_id: str,
        token_id: UUID,
        token_ends: datetime | None = None,
    ) -> LinkSocket:
        """Begin a link on a websocket that is open; the machine's hello will follow.

        It ends with the token that opened it, for which ``token_ends`` may say a time.
        """
        spread = reconnect_spread(self._registry.open_links + 1, self._reconnects_per_second)
        link = LinkSocket(
            connection,
            organization_id=organization_id,
            machine_id=machine_id,
            token_id=token_id,
            token_ends=token_ends,
            observer=self,
            background=self._background,
            timers=self._registry.timers,
            terms=replace(self._terms, reconnect_spread_seconds=spread),
        )
        self._registry.opened(link)
        return link

    async def admit(self, link: LinkSocket, hello: Hello) -> None:
        """Make this the machine's link: record it, replace the older one, reconcile what is open.

        A client that was taken over before, and so yields, replaces nobody: it is sent away as
        long as another has the link, which two clients with one token would else take from each
        other for ever.  Raises LinkDownError where the link ends meanwhile.
        """
        if link.yields and await self._has_other_link(link):
            link.close(
                CloseCode.TAKEN_OVER,
                "another connection with this machine's token has the link; "
                "every machine needs a token of its own",
            )
            return
        # Whoever greets later is the newest, however long the database takes for either.
        self._replace_earlier(link)
        async with self._queue.turn():
            if link.is_over:
                raise LinkDownError
            await self._bring_up(link, hello)

    async def _bring_up(self, link: LinkSocket, hello: Hello) -> None:
        """Each step after the one before has ended, for the order matters.

        What a lost journal leaves unknown is stored before the journal counts its number up and
        looks like a newer one.  Whom the machine takes inputs from is read when the link can be
        found: what was decided before is read here, and whoever decides later finds the link.  All
        else that is open is asked about before anything new is sent.
        """
        summary = ClientSummary(
            hello.platform, hello.client_version, tuple(hello.displays), hello.desktop
        )
        facts = LinkFacts(self._node.node_id, self._node.name)
        try:
            machine = await self._machines.begin_link(
                link.organization_id, link.machine_id, summary, facts
            )
        except NotFound:
            link.close(CloseCode.MACHINE_REMOVED, "this machine was removed")
            return
        if machine.epoch < link.newest_epoch:
            link.give_way()
        if link.is_over:
            await self._note_end(link, machine.epoch, "it ended before it was greeted")
            self._listener.changed(link.organization_id, link.machine_id)
            raise LinkDownError
        # Told before the welcome, after which the machine client says it no more.
        if hello.released is not None:
            self._listener.released(link.organization_id, link.machine_id, hello.released)
        self._background.start_and_report(
            self._take_over(link, machine), "take a link over from another node"
        )
        link.welcome(machine.epoch)
        await link.until_ready()
        await self._open_commands.mark_lost(link)
        await link.until_up()
        self._registry.register(link)
        self._other_nodes.link_came_up(link)
        self._changed(link)
        logger.info("machine=%s link=%s connected", link.machine_id, link.link_id)
        await self._read_restrictions(link)
        await self._open_commands.reconcile(link)
        link.reconciled()

    async def restrictions_changed(self, link: LinkSocket) -> None:
        """An operator has paused or resumed the machine of a link that is up, or control changed.

        A link that cannot be told is closed: its next greeting reads what was decided anew.
        """
        try:
            async with asyncio.timeout(RESTRICTING_SECONDS):
                await self._read_restrictions(link)
        except (StoreUnavailable, TimeoutError):
            link.close(CloseCode.SERVER_ERROR, "the server's database does not answer")

    async def _read_restrictions(self, link: LinkSocket) -> None:
        """Tell a link whom its machine takes inputs from, and who records it.

        One at a time, so that what is told last was read after every change before it.  Tries for
        as long as the link lives.
        """
        async with link.reading_restrictions:
            machine = await retry(
                lambda: self._machines.get_together(link.organization_id, link.machine_id),
                is_worthwhile=lambda: not link.is_over,
            )
            if machine is not None:
                # In one turn of the loop: who waits for the first of these finds all of them.
                link.restrict(_restrictions(machine))
                self._registry.restrictions_read(link)
                self._recordings.recordings_read(link, machine.recordings)

    async def closed(self, link: LinkSocket, reason: str) -> None:
        """A websocket is closed, for whatever reason."""
        self._registry.closed(link)
        link.lost()
        self._other_nodes.link_closed(link)
        self._recordings.link_closed(link)
        if link.epoch:
            logger.info(
                "machine=%s link=%s disconnected: %s", link.machine_id, link.link_id, reason
            )
            if link.over_code is None:
                await self._note_end(link, link.epoch, reason)
            self._changed(link)

    def closing(self, link: LinkSocket) -> None:
        """This side begins to close a link: note it, and say why in the log, but not for ever.

        A machine that is gone says nothing for some seconds, until which the link is not closed.
        """
        may_be_said, unsaid = self._closings.count((link.organization_id, link.machine_id))
        if may_be_said:
            level = logging.INFO
            if link.over_code is CloseCode.MESSAGE_INVALID:
                level = logging.WARNING
            logger.log(
                level,
                "machine=%s link=%s closing %d: %s%s",
                *(link.machine_id, link.link_id, link.over_code, link.over_reason),
                f" ({unsaid} more since the last line)" if unsaid else "",
            )
        if link.epoch:
            self._background.start_and_report(
                self._note_end(link, link.epoch, link.over_reason), "note the end of a link"
            )
        self._changed(link)

    def desktop_changed(self, link: LinkSocket, desktop: DesktopChanged) -> None:
        """A machine's desktop is another now: store and tell it."""
        self._desktops.changed(link)
        self._registry.state_changed(link)
        if desktop.released is not None:
            self._listener.released(link.organization_id, link.machine_id, desktop.released)

    def availability_changed(self, link: LinkSocket) -> None:
        """A machine's desktop got stuck, or is not any more: tell it."""
        if link.availability.stuck_since is not None:
            logger.warning("machine=%s link=%s %s", link.machine_id, link.link_id, STUCK)
        else:
            logger.info(
                "machine=%s link=%s its desktop answers again", link.machine_id, link.link_id
            )
        self._changed(link)

    def rivals_changed(self, link: LinkSocket) -> None:
        """Another host than before comes with a machine's token: tell it, each once."""
        why = explained(link.rivals, link.greeting.boot_id)
        logger.warning("machine=%s link=%s %s", link.machine_id, link.link_id, why)
        self._changed(link)

    def viewers_changed(self, link: LinkSocket) -> None:
        """Others look at the machine's live screen than before."""
        self._changed(link)

    def frame_arrived(self, link: LinkSocket, frame: FrameArrived) -> None:
        """A machine wants to know what a part of its screen shows."""
        self._frames.arrived(link, frame)

    def _changed(self, link: LinkSocket) -> None:
        self._registry.state_changed(link)
        self._troubles.look(link)
        if link.epoch:
            self._listener.changed(link.organization_id, link.machine_id)

    async def _has_other_link(self, link: LinkSocket) -> bool:
        """Whether another link of this machine is live, or has said its hello and will be.

        It is told then who else comes with its token.
        """
        rival = Rival(boot_id=link.greeting.boot_id, host=link.greeting.host)
        for other in self._registry.links_of(link.organization_id, link.machine_id):
            if other is not link and other.is_greeted:
                other.met(rival)
                return True
        return await self._other_nodes.has_link(link.organization_id, link.machine_id, rival)

    def _replace_earlier(self, link: LinkSocket) -> None:
        """Close the links of this machine that were opened before this one."""
        for other in self._registry.links_of(link.organization_id, link.machine_id):
            if other is link:
                return
            link.took_over = link.took_over or other.is_up
            other.give_way()

    async def _take_over(self, link: LinkSocket, machine: Machine) -> None:
        """Have an earlier link of the machine closed that another node still has."""
        if await self._other_nodes.give_way(machine):
            link.took_over = True
            self._changed(link)

    async def _note_end(self, link: LinkSocket, epoch: int, reason: str) -> None:
        try:
            await self._machines.end_link(link.organization_id, link.machine_id, epoch, reason)
        except StoreUnavailable as error:
            # The next link begins anew; only since when there is none stays unsaid.
            logger.warning("machine=%s end of a link not noted: %s", link.machine_id, error)


def _restrictions(machine: Machine) -> Restrictions:
    """What is stored of whom a machine takes inputs from."""
    since = milliseconds(machine.paused_since or machine.state_since)
    control = machine.control
    return Restrictions(
        Pause(since, machine.why_paused) if machine.paused else None,
        None if control is None else _control(control),
    )


def _control(control: StoredControl) -> Control:
    private_since = control.private_since
    return Control(
        control.lease_hash,
        control.by,
        milliseconds(control.since),
        holder=control.holder,
        private_since=None if private_since is None else milliseconds(private_since),
        is_run=control.is_run,
        is_confirmed=control.is_confirmed,
    )
