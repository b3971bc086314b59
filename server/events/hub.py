"""What a hub is: those who publish events and those who hear them know nothing else of it.

`MemoryEventHub` is the hub of a node that is alone, `SharedEventHub` that of one among several.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType
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


class EventHub(Protocol):
    """Publish and subscribe, for each organization alone.

    All who hear an organization's events hear them in one order.
    """

    @property
    def dropped(self) -> int:
        """How many subscribers were too slow."""

    @property
    def is_closed(self) -> bool:
        """Whether nobody will hear what is published now."""

    @property
    def subscribers(self) -> int:
        """How many there are now, on this node."""

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

    def close(self) -> None:
        """End every subscription, those to come among them."""

    async def finish(self, timeout: float) -> None:
        """Let what was published reach the other nodes, for so many seconds at most."""
