"""Tells everybody who listens what happens in their organization.

One hub for each process.  With several, a hub would also publish what the others say; those who
publish and subscribe need not know.
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

KEPT_EVENTS: Final = 1000
"""How many events of an organization are kept for those who come back."""

WAITING_EVENTS: Final = 1000
"""How many events may wait for one subscriber before it is dropped."""

MAX_SUBSCRIBERS: Final = 1000
"""For one organization."""

MAX_ORGANIZATIONS: Final = 1000
"""Of how many organizations events are kept while nobody listens."""


class TooManySubscribersError(Exception):
    """The organization has as many subscribers as it may."""


class Event:
    """Something that happened; ``content`` is what is told of it.

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
    """What one listener has not heard yet.

    ``is_dropped`` says that it was too slow and gets no more, ``must_reset`` that what it missed
    before it subscribed is not known any more.
    """

    def __init__(self, channel: "_Channel", wanted: Callable[[Event], bool], limit: int) -> None:
        self._channel = channel
        self._wanted = wanted
        self._limit = limit
        self._events: deque[Event] = deque()
        self._woken = asyncio.Event()
        self.heard = channel.newest
        self.must_reset = False
        self.is_over = False
        self.is_dropped = False

    def put(self, event: Event) -> None:
        """Add an event, if it is wanted; one that does not fit any more drops the subscriber."""
        if self.is_over or not self._wanted(event):
            return
        if len(self._events) >= self._limit:
            self._events.clear()
            self.is_dropped = True
            self.close()
            return
        self._events.append(event)
        self._woken.set()

    def take(self, most: int) -> list[Event]:
        """The next events, so many at most."""
        taken = [self._events.popleft() for _ in range(min(most, len(self._events)))]
        # Whatever was not wanted is as good as heard, once nothing waits.
        self.heard = taken[-1].number if self._events else self._channel.newest
        return taken

    async def wait(self, seconds: float) -> None:
        """Return when there is something to take, at the end, or after so many seconds."""
        if self._events or self.is_over:
            return
        self._woken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def id_of(self, number: int) -> str:
        """What names an event to those who come back; it says nothing else."""
        return f"{self._channel.tag}-{number}"

    def close(self) -> None:
        """Hear no more."""
        self.is_over = True
        self._channel.subscribers.discard(self)
        self._woken.set()


class _Channel:
    """The events of one organization.

    ``tag`` is random, so that no id of another channel, or of an earlier life, is taken for one
    of its own.
    """

    def __init__(self, kept: int) -> None:
        self.tag = secrets.token_hex(6)
        self.newest = 0
        self.kept: deque[Event] = deque(maxlen=kept)
        self.subscribers: set[Subscription] = set()

    def since(self, event_id: str) -> list[Event] | None:
        """What happened after the event of this id; None where that is not known any more."""
        tag, _, number = event_id.partition("-")
        if tag != self.tag or not number.isdecimal() or len(number) > len(str(self.newest)):
            return None
        heard = int(number)
        if not self.newest - len(self.kept) <= heard <= self.newest:
            return None
        missed = self.newest - heard
        return list(self.kept)[len(self.kept) - missed :]


class EventHub:
    """Publish and subscribe, for each organization alone."""

    def __init__(
        self,
        *,
        kept: int = KEPT_EVENTS,
        waiting: int = WAITING_EVENTS,
        subscribers: int = MAX_SUBSCRIBERS,
        organizations: int = MAX_ORGANIZATIONS,
    ) -> None:
        self._kept = kept
        self._waiting = waiting
        self._subscribers = subscribers
        self._organizations = organizations
        self._channels: OrderedDict[UUID, _Channel] = OrderedDict()
        self.is_closed = False
        self.dropped = 0

    @property
    def subscribers(self) -> int:
        """How many listen now."""
        return sum(len(channel.subscribers) for channel in self._channels.values())

    def publish(
        self,
        organization_id: UUID,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None = None,
    ) -> None:
        """Tell an organization's subscribers; ``machine_id`` is the machine that it is about.

        ``content`` may be what makes it, where it may well be that nobody ever needs it.
        """
        channel = self._channel(organization_id)
        channel.newest += 1
        event = Event(channel.newest, kind, content, machine_id)
        channel.kept.append(event)
        for subscription in tuple(channel.subscribers):
            subscription.put(event)
            self.dropped += subscription.is_dropped

    def subscribe(
        self,
        organization_id: UUID,
        last_event_id: str | None,
        wanted: Callable[[Event], bool],
    ) -> Subscription:
        """Listen from now on, or from after the event that was heard last.

        Raises TooManySubscribersError.
        """
        channel = self._channel(organization_id)
        if len(channel.subscribers) >= self._subscribers:
            raise TooManySubscribersError
        subscription = Subscription(channel, wanted, self._waiting)
        missed = [] if last_event_id is None else channel.since(last_event_id)
        if missed is None:
            subscription.must_reset = True
        else:
            subscription.heard -= len(missed)
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
            self._forget_the_oldest()
            channel = self._channels[organization_id] = _Channel(self._kept)
        self._channels.move_to_end(organization_id)
        return channel

    def _forget_the_oldest(self) -> None:
        """Make place for a channel; one that somebody listens to stays."""
        if len(self._channels) < self._organizations:
            return
        for organization_id, channel in self._channels.items():
            if not channel.subscribers:
                del self._channels[organization_id]
                return
