"""The hub of a node that is alone: everything is in its memory, and over when it ends."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType
from server.events.channel import Channel
from server.events.event import Event, Subscription
from server.events.hub import (
    HISTORY_EVENTS,
    MAX_ORGANIZATIONS,
    MAX_SUBSCRIBERS,
    QUEUED_EVENTS,
    ReadMachine,
    TooManySubscribersError,
)


class MemoryEventHub:
    """An `EventHub` for the subscribers of this process."""

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
        self._channels: OrderedDict[UUID, Channel] = OrderedDict()
        self._is_closed = False
        self.dropped = 0

    @property
    def is_closed(self) -> bool:
        """Whether nobody will hear what is published now."""
        return self._is_closed

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
        """Send an event to an organization's subscribers; ``machine_id`` is whose event it is."""
        channel = self._channel(organization_id)
        self.dropped += channel.tell(Event(channel.newest + 1, kind, content, machine_id))

    async def publish_machine(
        self, organization_id: UUID, machine_id: str, read: ReadMachine
    ) -> None:
        """Read how a machine is, and tell it.  Raises what ``read`` raises.

        The caller reads a machine only when it was told what it read of it before.
        """
        self.publish(organization_id, *await read(), machine_id)

    async def subscribe(
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
        channel.subscribe(subscription, _missed(channel, last_event_id))
        if self._is_closed:
            subscription.close()
        return subscription

    def close(self) -> None:
        """End every subscription, those to come among them."""
        self._is_closed = True
        for channel in self._channels.values():
            for subscription in tuple(channel.subscribers):
                subscription.close()

    async def finish(self, timeout: float) -> None:
        """Nothing: there are no other nodes."""

    def _channel(self, organization_id: UUID) -> Channel:
        channel = self._channels.get(organization_id)
        if channel is None:
            self._evict_oldest()
            # The tag is random: no id of an earlier life is taken for one of this.
            channel = Channel(secrets.token_hex(6), self._history)
            self._channels[organization_id] = channel
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


def _missed(channel: Channel, last_event_id: str | None) -> list[Event] | None:
    if last_event_id is None:
        return []
    number = channel.number_in(last_event_id)
    return None if number is None else channel.since(number)
