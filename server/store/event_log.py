"""The log of events that several nodes share: one order for each organization, without gaps.

A batch of events is one document, whose id is its organization and the number of its first event.
It is inserted at exactly the next number; of several nodes that do so at once, one is first, and
the others find out.  So a batch is seen only when all before it are.

The newest batch of an organization is never deleted, so that no number is ever used again.  What
came before the last HISTORY_EVENTS is deleted as more is appended; what nothing was appended after
is emptied when it is old, since it has names in it that are not to be kept for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now

MAX_BATCH_EVENTS: Final = 500
BATCHES_AT_ONCE: Final = 100
"""How many batches one reading brings."""

MANY_BATCHES: Final = 1000

LATE_INSERT: Final = timedelta(minutes=2)
"""A younger batch is not deleted: what a node, long away, still inserts in its place would succeed.

A node that was away for half of that looks where the end of the log is before it appends."""

LIFETIME: Final = timedelta(hours=1)
"""After that a batch is emptied.  Who comes back does so in seconds; later it is told to reset."""


class LoggedEvent(NamedTuple):
    """An event as it is stored."""

    type: str
    machine_id: str | None
    data: bytes


@dataclass(frozen=True)
class EventBatch:
    """Events that were appended together, the first of which has this number.

    ``attempt`` names who appended them.  ``events`` is None where the batch was emptied.
    """

    number: int
    count: int
    attempt: bytes
    events: Sequence[LoggedEvent] | None


class EventLog:
    """Appends to, reads and trims the log."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches = database.collection("events")

    async def append(
        self, organization_id: UUID, number: int, attempt: bytes, events: Sequence[LoggedEvent]
    ) -> None:
        """Append events, the first with this number.

        Raises AlreadyExists where there is a batch of this number.  May be repeated after
        StoreUnavailable: then that batch may be this one.
        """
        document = {
            "_id": _id(organization_id, number),
            "count": len(events),
            "attempt": attempt,
            "events": [list(event) for event in events],
            "created_at": now(),
        }
        async with self._database.operation():
            await self._batches.insert_one(document)

    async def newest(self, organization_id: UUID) -> int:
        """The number of the newest event; 0 where there never was one."""
        async with self._database.operation():
            found = await self._batches.find_one(
                _range(organization_id, 0), projection={"count": True}, sort=[("_id", -1)]
            )
        return 0 if found is None else _number(found) + found["count"] - 1

    async def since(self, organization_id: UUID, number: int) -> list[EventBatch]:
        """The first batches that begin after this number, BATCHES_AT_ONCE of them at most."""
        wanted = _range(organization_id, number + 1)
        cursor = self._batches.find(wanted, sort=[("_id", 1)], limit=BATCHES_AT_ONCE)
        return [_batch(document) async for document in self._database.documents(cursor)]

    async def beginning_of(self, organization_id: UUID, number: int) -> int | None:
        """The number of the first event of the batch that has this one; None where none has."""
        until = {"_id": {"$gte": _id(organization_id, 0), "$lte": _id(organization_id, number)}}
        async with self._database.operation():
            found = await self._batches.find_one(
                until, projection={"count": True}, sort=[("_id", -1)]
            )
        if found is None or _number(found) + found["count"] <= number:
            return None
        return _number(found)

    async def with_more(self, newest: Mapping[UUID, int]) -> set[UUID]:
        """Those of these organizations that have events after the number that is theirs here.

        Where very much was appended, some of them are found only the next time.
        """
        ids = list(newest)
        found: set[UUID] = set()
        for begin in range(0, len(ids), BATCHES_AT_ONCE):
            ranges = [_range(each, newest[each] + 1) for each in ids[begin:][:BATCHES_AT_ONCE]]
            cursor = self._batches.find(
                {"$or": ranges}, projection={"_id": True}, limit=MANY_BATCHES
            )
            async for document in self._database.documents(cursor):
                found.add(UUID(bytes=bytes(document["_id"][:16])))
        return found

    async def trim(self, organization_id: UUID, number: int) -> None:
        """Delete batches that have nothing from this number on, but no young ones."""
        before = _id(organization_id, max(number + 1 - MAX_BATCH_EVENTS, 0))
        async with self._database.operation():
            await self._batches.delete_many(
                {
                    "_id": {"$gte": _id(organization_id, 0), "$lt": before},
                    "created_at": {"$lt": now() - LATE_INSERT},
                }
            )

    async def empty_old(self) -> None:
        """Take the events out of batches that have been there for LIFETIME."""
        old = {"created_at": {"$lt": now() - LIFETIME}, "events": {"$exists": True}}
        async with self._database.operation():
            await self._batches.update_many(old, {"$unset": {"events": ""}})


def _id(organization_id: UUID, number: int) -> bytes:
    """Sorts by the number."""
    return organization_id.bytes + number.to_bytes(8)


def _range(organization_id: UUID, number: int) -> Document:
    """The batches of an organization that begin with this number or later."""
    last = _id(organization_id, 2**64 - 1)
    return {"_id": {"$gte": _id(organization_id, number), "$lte": last}}


def _number(document: Document) -> int:
    return int.from_bytes(document["_id"][16:])


def _batch(document: Document) -> EventBatch:
    stored = document.get("events")
    events = None if stored is None else [LoggedEvent(*event) for event in stored]
    return EventBatch(_number(document), document["count"], document["attempt"], events)
