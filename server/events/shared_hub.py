"""The hub of one node among several: all of them tell and hear one log, in one order."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Unpack
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType
from server.bus.bus import Bus
from server.errors import StoreError
from server.events.appender import Appender, Batch
from server.events.hub import Bounds, EventHub, ReadMachine
from server.events.notices import decoded, encoded, subject_of
from server.events.outbox import Outbox, Room
from server.events.shared_channel import SharedChannel
from server.events.tags import TagOf
from server.store.event_log import EventLog
from server.tasks import Tasks, at_most

logger = logging.getLogger(__name__)

OUTBOX_EVENTS: Final = 2000
"""How many events of one organization may wait to be appended: a whole writing of the audit twice.
"""

ROOM: Final = 20_000
"""How many may wait in all organizations together."""

POLL_SECONDS: Final = 1.0
"""Between two looks into the log while no notices come, and so how late events are then."""

CONNECTED_POLL_SECONDS: Final = 5.0
"""The same while they do: one may be lost on its way."""

REORDERED_SECONDS: Final = 0.02
"""For so long what is missing may still come by itself: notices of two nodes may swap places."""

EMPTYING_SECONDS: Final = 600.0


class SharedEventHub(EventHub):
    """For the subscribers of all nodes.

    Events wait in the outbox of their organization until they are in the log; what is in the log
    is told by a notice on the bus, and looked for there where notices are missing.  ``run`` is to
    be supervised for as long as the server runs.
    """

    _channels: OrderedDict[UUID, SharedChannel]

    def __init__(
        self,
        log: EventLog,
        bus: Bus,
        background: Tasks,
        *,
        prefix: str,
        tag_of: TagOf,
        outbox: int = OUTBOX_EVENTS,
        room: int = ROOM,
        **bounds: Unpack[Bounds],
    ) -> None:
        super().__init__(**bounds)
        self._log = log
        self._bus = bus
        self._background = background
        self._prefix = prefix
        self._tag_of = tag_of
        self._outbox = outbox
        self._room = Room(room)
        self._appender = Appender(log, self._notify)
        # Up to which number there is something that did not come by itself.
        self._missing: dict[UUID, int] = {}
        self._has_missing = asyncio.Event()
        self._is_closed = False
        self._dropped_before = 0
        bus.on_reconnect(self._look_for_all)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def dropped(self) -> int:
        return self._dropped_before + sum(each.dropped for each in self._channels.values())

    @property
    def waiting(self) -> int:
        """How many events are not in the log yet."""
        return sum(len(channel.outbox) for channel in self._channels.values())

    def publish(
        self,
        organization_id: UUID,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None = None,
    ) -> None:
        if not self._is_closed:
            channel = self._channel(organization_id)
            channel.outbox.add(kind, content, machine_id)
            self._append(channel)

    async def publish_machine(
        self, organization_id: UUID, machine_id: str, read: ReadMachine
    ) -> None:
        """Tell how a machine is, soon; what ``read`` raises is seen to."""
        if not self._is_closed:
            channel = self._channel(organization_id)
            channel.outbox.add_machine(machine_id, read)
            self._append(channel)

    async def finish(self, timeout: float) -> None:
        appending = [each.appending for each in self._channels.values() if each.outbox]
        if tasks := [task for task in appending if task is not None]:
            await asyncio.wait(tasks, timeout=timeout)
        self._is_closed = True
        if self.waiting:
            logger.error("%d events could not be told", self.waiting)
        for channel in self._channels.values():
            self._forget(channel)

    async def run(self) -> None:
        """Look for what did not come by itself, and take old events out of the log."""
        emptied_at, looked_at, is_away = -EMPTYING_SECONDS, time.monotonic(), False
        while True:
            try:
                if time.monotonic() - emptied_at >= EMPTYING_SECONDS:
                    emptied_at = time.monotonic()
                    await self._log.empty_old()
                if await self._something_is_missing():
                    await self._look_for_missing()
                elif self._is_look_due(time.monotonic() - looked_at):
                    looked_at = time.monotonic()
                    await self._look_at_all()
                is_away = False
            except StoreError as error:
                if not is_away:
                    logger.warning("events are heard later: %s", error)
                is_away = True
                await asyncio.sleep(POLL_SECONDS)
                self._look_for_all()

    async def _something_is_missing(self) -> bool:
        await at_most(POLL_SECONDS, self._has_missing.wait())
        return self._has_missing.is_set()

    def _is_look_due(self, seconds: float) -> bool:
        return not self._bus.is_connected or seconds >= CONNECTED_POLL_SECONDS

    async def _look_for_missing(self) -> None:
        await asyncio.sleep(REORDERED_SECONDS)
        self._has_missing.clear()
        missing, self._missing = self._missing, {}
        await self._catch_up({each for each in missing if self._newest(each) < missing[each]})

    async def _look_at_all(self) -> None:
        newest = {
            organization_id: channel.newest
            for organization_id, channel in self._channels.items()
            if channel.subscribers
        }
        await self._catch_up(await self._log.with_more(newest))

    async def _catch_up(self, behind: set[UUID]) -> None:
        for organization_id in behind:
            if channel := self._channels.get(organization_id):
                await channel.catch_up()

    def _newest(self, organization_id: UUID) -> int:
        channel = self._channels.get(organization_id)
        return 0 if channel is None else channel.newest

    def _look_for_all(self) -> None:
        """Notices may have been lost: look at once."""
        for organization_id, channel in self._channels.items():
            if channel.subscribers:
                self._missing[organization_id] = channel.newest + 1
        self._has_missing.set()

    def _hear(self, organization_id: UUID, message: bytes) -> None:
        """Take a notice."""
        channel, notice = self._channels.get(organization_id), decoded(message)
        if channel is None or notice is None:
            return
        if notice.events is not None and channel.receive(notice.number, notice.events):
            return
        last = notice.number + notice.count - 1
        if channel.is_heard and last > channel.newest:
            self._missing[organization_id] = max(last, self._missing.get(organization_id, 0))
            self._has_missing.set()

    def _notify(self, channel: SharedChannel, number: int, events: Batch) -> None:
        """Tell the other nodes of a batch."""
        subject = subject_of(self._prefix, channel.organization_id)
        self._bus.publish(subject, encoded(number, events))

    def _append(self, channel: SharedChannel) -> None:
        if channel.appending is None or channel.appending.done():
            channel.appending = self._background.start_and_report(
                self._appender.append_all(channel), "tell of events"
            )

    def _channel(self, organization_id: UUID) -> SharedChannel:
        channel = self._channels.get(organization_id)
        if channel is None:
            self._evict_oldest()
            outbox = Outbox(self._outbox, self._room)
            channel = SharedChannel(
                organization_id, self._tag_of(organization_id), self._history, self._log, outbox
            )
            channel.registration = self._bus.subscribe(
                subject_of(self._prefix, organization_id),
                lambda message: self._hear(organization_id, message),
            )
            self._channels[organization_id] = channel
        self._channels.move_to_end(organization_id)
        return channel

    def _evict_oldest(self) -> None:
        """Make place for a channel; those that are used stay, and make place when they are not."""
        for organization_id, channel in tuple(self._channels.items()):
            if len(self._channels) < self._organizations:
                return
            if not channel.is_used:
                self._forget(channel)
                self._dropped_before += channel.dropped
                del self._channels[organization_id]

    def _forget(self, channel: SharedChannel) -> None:
        if channel.registration is not None:
            channel.registration.close()
