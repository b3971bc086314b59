"""An event, and the subscription of one who hears events."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from pydantic import BaseModel

from schemas.resources.events import EventType
from server.tasks import at_most


class Event:
    """Something that happened; ``content`` is its data.

    It is rendered when the first subscriber needs it, and then once for all.
    """

    __slots__ = ("_content", "_data", "machine_id", "number", "type")

    def __init__(
        self,
        number: int,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel] | bytes,
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
            self._data = rendered(self._content)
        return self._data


def rendered(content: BaseModel | Callable[[], BaseModel] | bytes) -> bytes:
    """A content as one line of JSON."""
    if isinstance(content, bytes):
        return content
    made = content if isinstance(content, BaseModel) else content()
    return made.model_dump_json().encode()


class Source(Protocol):
    """What a subscription needs to know of the events that it hears."""

    tag: str
    newest: int
    subscribers: "set[Subscription]"


class Subscription:
    """The events that one subscriber has not taken yet.

    ``last_number`` is the number of the last event that it has taken or did not want.
    ``is_dropped`` says that it was too slow and gets no more, ``must_reset`` that what it missed
    before it subscribed is not known any more.
    """

    def __init__(self, source: Source, wanted: Callable[[Event], bool], limit: int) -> None:
        self._source = source
        self._wanted = wanted
        self._limit = limit
        self._events: deque[Event] = deque()
        self._has_changed = asyncio.Event()
        self.last_number = source.newest
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
        self.last_number = taken[-1].number if self._events else self._source.newest
        return taken

    async def wait(self, seconds: float) -> None:
        """Return when there is something to take, at the end, or after so many seconds."""
        if self._events or self.is_closed:
            return
        self._has_changed.clear()
        await at_most(seconds, self._has_changed.wait())

    def id_of(self, number: int) -> str:
        """What names an event to those who come back; it says nothing else."""
        return f"{self._source.tag}-{number}"

    def close(self) -> None:
        """Take no more events."""
        self.is_closed = True
        self._source.subscribers.discard(self)
        self._has_changed.set()
