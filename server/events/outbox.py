"""What a node has to tell in one organization and has not appended to the log yet."""

from collections import deque
from collections.abc import Callable
from typing import Final

from pydantic import BaseModel

from schemas.resources.events import EventType, Reset
from server.events.event import rendered
from server.events.hub import ReadMachine
from server.store.event_log import MAX_BATCH_EVENTS, LoggedEvent

MAX_BATCH_READS: Final = 20
"""Of how many machines the state is read for one batch."""

MAX_BATCH_BYTES: Final = 1024 * 1024
"""A batch takes one more event while it has fewer."""

LOST: Final = Reset(reason="more happened than could be told")


class Entry:
    """An event that waits.

    ``made`` is what is to be appended, once it is known.  That of a machine is read for it, while
    ``made_after`` was the newest number of the log.
    """

    __slots__ = ("machine_id", "made", "made_after", "read")

    def __init__(
        self, machine_id: str | None, made: LoggedEvent | None, read: ReadMachine | None = None
    ) -> None:
        self.machine_id = machine_id
        self.made = made
        self.made_after = 0
        self.read = read


class Room:
    """How many more events may wait in all outboxes together."""

    def __init__(self, free: int) -> None:
        self.free = free


class Outbox:
    """The events that wait, in their order, bounded: what does not fit is told as one reset.

    The first of them, which are just being appended, are not taken away.
    """

    def __init__(self, limit: int, room: Room) -> None:
        self._limit = limit
        self._room = room
        self._entries: deque[Entry] = deque()
        self._under_way = 0
        # Of each machine that is still to be read: however often it changes, once is enough.
        self._to_read: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(
        self,
        kind: EventType,
        content: BaseModel | Callable[[], BaseModel],
        machine_id: str | None,
    ) -> None:
        """Let an event wait."""
        self._add(Entry(machine_id, LoggedEvent(kind, machine_id, rendered(content))))

    def add_machine(self, machine_id: str, read: ReadMachine) -> None:
        """Let a machine wait to be read and told."""
        if machine_id not in self._to_read:
            entry = self._to_read[machine_id] = Entry(machine_id, None, read)
            self._add(entry)

    def begin(self) -> list[Entry]:
        """The first entries, to be appended together: those that had begun, and more that fit."""
        chosen: list[Entry] = []
        reads = size = 0
        for number, entry in enumerate(self._entries):
            reads += entry.read is not None
            is_full = size > MAX_BATCH_BYTES or reads > MAX_BATCH_READS
            if number >= self._under_way and (is_full or number >= MAX_BATCH_EVENTS):
                break
            size += 0 if entry.made is None else len(entry.made.data)
            chosen.append(entry)
            if entry.machine_id is not None and self._to_read.get(entry.machine_id) is entry:
                del self._to_read[entry.machine_id]
        self._under_way = len(chosen)
        return chosen

    def end(self) -> None:
        """Forget what was under way: it has been appended."""
        for _ in range(self._under_way):
            self._entries.popleft()
        self._room.free += self._under_way
        self._under_way = 0

    def drop(self, entry: Entry) -> None:
        """Forget an entry that is under way and cannot be told."""
        self._entries.remove(entry)
        self._room.free += 1
        self._under_way -= 1

    def lose(self) -> None:
        """Tell a reset in the place of all that waits; who hears it reads everything again."""
        while len(self._entries) > self._under_way:
            self._entries.pop()
            self._room.free += 1
        self._to_read.clear()
        self._entries.append(Entry(None, LoggedEvent("reset", None, rendered(LOST))))
        # Even where there is none: of each organization there is one such at most.
        self._room.free -= 1

    def _add(self, entry: Entry) -> None:
        if len(self._entries) >= self._limit + self._under_way or self._room.free <= 0:
            self.lose()
        else:
            self._entries.append(entry)
            self._room.free -= 1
