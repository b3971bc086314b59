"""The hub of a node that is alone: everything is in its memory, and over when it ends."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from pydantic import BaseModel

from schemas.resources.events import EventType
from server.events.channel import Channel
from server.events.event import Event
from server.events.hub import EventHub, ReadMachine


class MemoryEventHub(EventHub):
    """For the subscribers of this process.

    Who publishes a machine has it read only when it was told what was read of it before.
    """

    dropped = 0
    _channels: OrderedDict[UUID, Channel]

    @property
    def is_closed(self) -> bool:
        return self._ends_subscriptions

    def publish(
        self,
        organization_id: UUID,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None = None,
    ) -> None:
        channel = self._channel(organization_id)
        self.dropped += channel.tell(Event(channel.newest + 1, kind, content, machine_id))

    async def publish_machine(
        self, organization_id: UUID, machine_id: str, read: ReadMachine
    ) -> None:
        self.publish(organization_id, *await read(), machine_id)

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
