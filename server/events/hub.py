"""What a hub is: those who publish events and those who hear them know nothing else of it.

`MemoryEventHub` is the hub of a node that is alone, `SharedEventHub` that of one among several.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypedDict, Unpack
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType
from server.events.channel import Channel
from server.events.event import Event, Subscription

HISTORY_EVENTS: Final = 1000
"""How many events of an organization are kept for subscribers who come back."""

QUEUED_EVENTS: Final = 1000
"""How many events may wait for one subscriber before it is dropped."""

MAX_SUBSCRIBERS: Final = 1000
"""For one organization, on one node."""

MAX_ORGANIZATIONS: Final = 1000
"""Of how many organizations events are kept while nobody has subscribed."""

ReadMachine = Callable[[], Awaitable[tuple[EventType, BaseModel]]]
"""Reads what a machine is now: the type of the event that tells it, and its content."""


class TooManySubscribersError(Exception):
    """The organization has as many subscribers as it may."""


class Bounds(TypedDict, total=False):
    """What a hub keeps: events, those that wait for a subscriber, subscribers, organizations."""

    history: int
    queue: int
    subscribers: int
    organizations: int


class EventHub(ABC):
    """Publish and subscribe, for each organization alone.

    All who hear an organization's events hear them in one order.
    """

    _channels: Mapping[UUID, Channel]

    def __init__(self, **bounds: Unpack[Bounds]) -> None:
        self._channels = OrderedDict()
        self._history = bounds.get("history", HISTORY_EVENTS)
        self._queue = bounds.get("queue", QUEUED_EVENTS)
        self._subscribers = bounds.get("subscribers", MAX_SUBSCRIBERS)
        self._organizations = bounds.get("organizations", MAX_ORGANIZATIONS)
        self._ends_subscriptions = False

    @property
    @abstractmethod
    def dropped(self) -> int:
        """How many subscribers were too slow."""

    @property
    @abstractmethod
    def is_closed(self) -> bool:
        """Whether nobody will hear what is published now."""

    @property
    def subscribers(self) -> int:
        """How many there are now, on this node."""
        return sum(len(channel.subscribers) for channel in self._channels.values())

    @abstractmethod
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

    @abstractmethod
    async def publish_machine(
        self, organization_id: UUID, machine_id: str, read: ReadMachine
    ) -> None:
        """Tell how a machine is that has changed before this call.

        Of all that is told of a machine the last was read after its last change.  Raises what
        ``read`` raises, or sees to it itself.
        """

    async def subscribe(
        self,
        organization_id: UUID,
        last_event_id: str | None,
        wanted: Callable[[Event], bool],
    ) -> Subscription:
        """Subscribe from now on, or from after the event that was received last.

        Raises TooManySubscribersError, and StoreUnavailable where nobody can say what was last.
        """
        channel = self._channel(organization_id)
        channel.subscribing += 1
        try:
            if len(channel.subscribers) + channel.subscribing > self._subscribers:
                raise TooManySubscribersError
            if not channel.subscribers:
                await channel.catch_up()
            missed: list[Event] | None = []
            if last_event_id is not None:
                number = channel.number_in(last_event_id)
                missed = None if number is None else await channel.missed_since(number)
        finally:
            channel.subscribing -= 1
        subscription = Subscription(channel, wanted, self._queue)
        channel.subscribe(subscription, missed)
        if self._ends_subscriptions:
            subscription.close()
        return subscription

    def close(self) -> None:
        """End every subscription, those to come among them; the other nodes hear on."""
        self._ends_subscriptions = True
        for channel in self._channels.values():
            for subscription in tuple(channel.subscribers):
                subscription.close()

    @abstractmethod
    async def finish(self, timeout: float) -> None:
        """Let what was published reach the other nodes, for so many seconds at most."""

    @abstractmethod
    def _channel(self, organization_id: UUID) -> Channel:
        """The channel of an organization, made where there is none."""
