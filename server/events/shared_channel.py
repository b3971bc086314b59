"""What a node knows of the events of one organization, and how it learns what it has missed."""

import asyncio
import time
from collections.abc import Sequence
from typing import cast
from uuid import UUID

from schemas.resources.events import EventType, Reset
from server.bus.bus import Registration
from server.events.channel import Channel
from server.events.event import Event
from server.events.outbox import Entry, Outbox
from server.store.event_log import BATCHES_AT_ONCE, LATE_INSERT, EventBatch, EventLog, LoggedEvent

FRESH_SECONDS = LATE_INSERT.total_seconds() / 2
"""For so long it is certain that what was the next number has not been used and deleted since."""

_TELLS_A_MACHINE = ("machine", "machine_removed")
_FORGOTTEN = Reset(reason="what happened since then is not known any more")


class SharedChannel(Channel):
    """The events of one organization as far as this node has heard of them.

    ``newest`` may be behind the log: while nobody here subscribes, nobody looks.
    """

    def __init__(
        self, organization_id: UUID, tag: str, history: int, log: EventLog, outbox: Outbox
    ) -> None:
        super().__init__(tag, history)
        self.organization_id = organization_id
        self.outbox = outbox
        self.registration: Registration | None = None
        self.appending: asyncio.Task[None] | None = None
        self.trimmed_at = time.monotonic()
        self.dropped = 0
        self._log = log
        self._reading = asyncio.Lock()
        # By the clock that goes on while the system sleeps; the other does not.
        self._looked_at: float | None = None

    @property
    def is_heard(self) -> bool:
        """Whether somebody here subscribes, or is just about to."""
        return bool(self.subscribers or self.subscribing)

    @property
    def is_used(self) -> bool:
        """Whether it must not be forgotten."""
        return self.is_heard or bool(self.outbox)

    @property
    def is_fresh(self) -> bool:
        """Whether a batch that is inserted after ``newest`` cannot be in a used place."""
        return self._looked_at is not None and 0 <= time.time() - self._looked_at < FRESH_SECONDS

    def receive(self, number: int, events: Sequence[LoggedEvent]) -> bool:
        """Take a batch of the log; False where something before it is missing."""
        if number > self.newest + 1:
            return False
        for own, (kind, machine_id, data) in enumerate(events, number):
            if own > self.newest:
                event = Event(own, cast("EventType", kind), data, machine_id)
                self.dropped += self.tell(event)
        return True

    def is_outdated(self, entry: Entry) -> bool:
        """Whether another node may have told of this machine since it was read."""
        if entry.read is None:
            return False
        if entry.made is None or entry.made_after < self.known_after:
            return True
        for event in reversed(self.history):
            if event.number <= entry.made_after:
                return False
            if event.machine_id == entry.machine_id and event.type in _TELLS_A_MACHINE:
                return True
        return False

    def appended(self, since: float, number: int, events: Sequence[LoggedEvent]) -> None:
        """Take what this node has appended itself, with what it knew at that time."""
        self._looked_at = since
        self.receive(number, events)

    async def catch_up(self) -> None:
        """Learn what was appended since, and tell it; raises StoreUnavailable.

        What nobody here waits for is passed over where it is much.
        """
        async with self._reading:
            if not self.subscribers and not self.is_fresh and await self._passed_over():
                return
            batches: list[EventBatch] | None = None
            while batches is None or len(batches) == BATCHES_AT_ONCE:
                looked_at = time.time()
                batches = await self._log.since(self.organization_id, self.newest)
                if not all(self._take(batch) for batch in batches):
                    # The log goes back no further than to there.
                    newest = await self._log.newest(self.organization_id)
                    self._go_to(newest)
                    batches = None
            self._looked_at = looked_at

    async def missed_since(self, number: int) -> list[Event] | None:
        """What happened after this number, None where that is not known; raises StoreUnavailable.

        It is known of as many events as fit the history, on whichever node they were heard.
        """
        if number > self.newest:
            await self.catch_up()  # Another node has told more than this one knows.
        async with self._reading:
            if self._lacks(number):
                await self._learn_earlier(number)
        return self.since(number)

    def _lacks(self, number: int) -> bool:
        most = self.history.maxlen or 0
        return number < self.known_after and self.newest - number <= most

    def _take(self, batch: EventBatch) -> bool:
        if batch.number + batch.count - 1 <= self.newest:
            return True  # It was heard meanwhile.
        return batch.events is not None and self.receive(batch.number, batch.events)

    async def _passed_over(self) -> bool:
        looked_at = time.time()
        newest = await self._log.newest(self.organization_id)
        if newest - self.newest <= (self.history.maxlen or 0) and self._looked_at is not None:
            return False
        self._go_to(newest)
        self._looked_at = looked_at
        return True

    def _go_to(self, newest: int) -> None:
        """Go on from there; what came before is not known."""
        if newest > self.newest:
            self.history.clear()
            self.newest = newest
            self.dropped += self.put(Event(newest, "reset", _FORGOTTEN, None))

    async def _learn_earlier(self, number: int) -> None:
        """Put what the log still has after this number before the history."""
        begin = await self._log.beginning_of(self.organization_id, number + 1)
        earlier: list[Event] = []
        while begin is not None and begin <= self.known_after:
            batches = await self._log.since(self.organization_id, begin - 1)
            for batch in batches:
                if batch.number != begin or batch.events is None:
                    return
                earlier += _events(batch)
                begin += batch.count
            if not batches:
                return
        earlier = [event for event in earlier if number < event.number <= self.known_after]
        # Meanwhile more may have happened, so that not all fits any more.
        if self._lacks(number) and len(earlier) == self.known_after - number:
            self.history.extendleft(reversed(earlier))


def _events(batch: EventBatch) -> list[Event]:
    return [
        Event(number, cast("EventType", kind), data, machine_id)
        for number, (kind, machine_id, data) in enumerate(batch.events or (), batch.number)
    ]
