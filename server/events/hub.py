"""Publishes what happens in an organization to its subscribers.

There is one hub for each process.  With several processes, a hub would also publish the events of
the others; those who publish and subscribe need not know.
"""

import asyncio
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType

HISTORY_EVENTS: Final = 1000
"""How many events of an organization are kept for subscribers who come back."""

QUEUED_EVENTS: Final = 1000
"""How many events may wait for one subscriber before it is dropped."""

MAX_SUBSCRIBERS: Final = 1000
"""For one organization."""

MAX_ORGANIZATIONS: Final = 1000
"""Of how many organizations events are kept while nobody has subscribed."""


class TooManySubscribersError(Exception):
    """The organization has as many subscribers as it may."""


class Event:
    """Something that happened; ``content`` is its data.

    It is rendered when the first subscriber needs it, and then once for all.
    """

    __slots__ = ("_content", "_data", "machine_id", "number", "type")

    def __init__(
        self,
        number: int,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None,
    ) -> None:
        self.number = number
        self.type = kind
        self.machine_id = machine_id
        self._content = content
        self._data: bytes | None = None

    @property
    def data(self) -> bytes:
        """The content as one line of JSON."""
        if self._data is None:
            content = self._content if isinstance(self._content, BaseModel) else self._content()
            self._data = content.model_dump_json().encode()
        return self._data


class Subscription:
    """The events that one subscriber has not taken yet.

    ``last_number`` is the number of the last event that it has taken or did not want.
    ``is_dropped`` says that it was too slow and gets no more, ``must_reset`` that what it missed
    before it subscribed is not known any more.
    """

    def __init__(self, channel: "_Channel", wanted: Callable[[Event], bool], limit: int) -> None:
        self._channel = channel
        self._wanted = wanted
        self._limit = limit
        self._events: deque[Event] = deque()
        self._has_changed = asyncio.Event()
        self.last_number = channel.newest
        self.must_reset = False
        self.is_closed = False
        self.is_dropped = False

    def put(self, event: Event) -> None:
        """Add an event, if it is wanted; one that does not fit any more drops the subscriber."""
        if self.is_closed or not self._wanted(event):
            return
        if len(self._events) >= self._limit:
            self._events.clear()
            self.is_dropped = True
            self.close()
            return
        self._events.append(event)
        self._has_changed.set()

    def take(self, most: int) -> list[Event]:
        """The next events, so many at most."""
        taken = [self._events.popleft() for _ in range(min(most, len(self._events)))]
        # Whatever was not wanted counts as taken, once nothing waits.
        self.last_number = taken[-1].number if self._events else self._channel.newest
        return taken

    async def wait(self, seconds: float) -> None:
        """Return when there is something to take, at the end, or after so many seconds."""
        if self._events or self.is_closed:
            return
        self._has_changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_changed.wait()

    def id_of(self, number: int) -> str:
        """What names an event to those who come back; it says nothing else."""
        return f"{self._channel.tag}-{number}"

    def close(self) -> None:
        """Take no more events."""
        self.is_closed = True
        self._channel.subscribers.discard(self)
        self._has_changed.set()


class _Channel:
    """The events of one organization.

    ``tag`` is random, so that no id of another channel, or of an earlier life, is taken for one
    of its own.
    """

    def __init__(self, history: int) -> None:
        self.tag = secrets.token_hex(6)
        self.newest = 0
        self.history: deque[Event] = deque(maxlen=history)
        self.subscribers: set[Subscription] = set()

    def missed_since(self, event_id: str) -> list[Event] | None:
        """What happened after the event of this id; None where that is not known any more."""
        tag, _, number = event_id.partition("-")
        if tag != self.tag or not number.isdecimal() or len(number) > len(str(self.newest)):
            return None
        last = int(number)
        if not self.newest - len(self.history) <= last <= self.newest:
            return None
        missed = self.newest - last
        return list(self.history)[len(self.history) - missed :]


class EventHub:
    """Publish and subscribe, for each organization alone."""

    def __init__(
        self,
        *,
        history: int = HISTORY_EVENTS,
        queue: int = QUEUED_EVENTS,
        subscribers: int = MAX_SUBSCRIBERS,
        organizations: int = MAX_ORGANIZATIONS,
    ) -> None:
        self._history = history
        self._queue = queue
        self._subscribers = subscribers
        self._organizations = organizations
        self._channels: OrderedDict[UUID, _Channel] = OrderedDict()
        self.is_closed = False
        self.dropped = 0

    @property
    def subscribers(self) -> int:
        """How many there are now."""
        return sum(len(channel.subscribers) for channel in self._channels.values())

    def publish(
        self,
        organization_id: UUID,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None = None,
    ) -> None:
        """Send an event to an organization's subscribers; ``machine_id`` is whose event it is.

        ``content`` may be what makes it, where it may well be that nobody ever needs it.
        """
        channel = self._channel(organization_id)
        channel.newest += 1
        event = Event(channel.newest, kind, content, machine_id)
        channel.history.append(event)
        for subscription in tuple(channel.subscribers):
            subscription.put(event)
            self.dropped += subscription.is_dropped

    def subscribe(
        self,
        organization_id: UUID,
        last_event_id: str | None,
        wanted: Callable[[Event], bool],
    ) -> Subscription:
        """Subscribe from now on, or from after the event that was received last.

        Raises TooManySubscribersError.
        """
        channel = self._channel(organization_id)
        if len(channel.subscribers) >= self._subscribers:
            raise TooManySubscribersError
        subscription = Subscription(channel, wanted, self._queue)
        missed = [] if last_event_id is None else channel.missed_since(last_event_id)
        if missed is None:
            subscription.must_reset = True
        else:
            subscription.last_number -= len(missed)
            for event in missed:
                subscription.put(event)
        channel.subscribers.add(subscription)
        if self.is_closed:
            subscription.close()
        return subscription

    def close(self) -> None:
        """End every subscription, those to come among them."""
        self.is_closed = True
        for channel in self._channels.values():
            for subscription in tuple(channel.subscribers):
                subscription.close()

    def _channel(self, organization_id: UUID) -> _Channel:
        channel = self._channels.get(organization_id)
        if channel is None:
            self._evict_oldest()
            channel = self._channels[organization_id] = _Channel(self._history)
        self._channels.move_to_end(organization_id)
        return channel

    def _evict_oldest(self) -> None:
        """Make place for a channel; one with subscribers stays."""
        if len(self._channels) < self._organizations:
            return
        for organization_id, channel in self._channels.items():
            if not channel.subscribers:
                del self._channels[organization_id]
                return
