"""The list index: what lists and searches know of trajectories, beside the trajectories themselves.

A trajectory that is new is marked: it is found by going through all of those, which are few.  Soon
after, a transaction indexes it: an entry to search in, and one more in the counts.  Where its texts
are too long for an entry to be searched in, they go on to be read through.  Whoever changes one
keeps its entry and the counts true in the same transaction, or indexes it there and then.  So in
every snapshot of the database a trajectory is indexed, or marked and not yet indexed, and never
both: `marks` says how.  An entry is there for each that is indexed and for no other.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice, repeat
from typing import Final, NamedTuple
from uuid import UUID

from server.errors import StoreError
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session, in_transaction
from server.store.trajectories.counts import CountedTrajectory, TrajectoryCounts
from server.store.trajectories.marks import (
    Marked,
    OpenBatches,
    indexed_mark,
    is_new,
    marked_new,
)
from server.store.trajectories.search import suffix_keys

logger = logging.getLogger(__name__)

BATCH: Final = 400
"""So many are indexed at once; whoever changes one of them meanwhile has to try again."""

SMALL_BATCH: Final = 50
"""So many where somebody does change them, so that not all is done again and again."""

MAX_KEYS: Final = 50_000
"""A batch ends where its entries have more keys to search by: writing those takes the time."""

SEGMENT: Final = 1000
"""Entries come one segment after another: so many, and what is written at once, are in each.

Their keys are scattered over all keys of a segment.  Where a segment is a whole library, nearly
each key makes MongoDB write a page anew, and the larger the library the slower it indexes: after
20,000 an entry took five times the processor's time.  A search looks into each segment.
"""

POLL_SECONDS: Final = 1.0
_BLOCKING_DOCUMENTS: Final = 16
"""The entries of so many are made in about half a millisecond; then it is somebody else's turn."""

_ENCODED_AT_ONCE: Final = 50
"""So many are sent or received at once: while the driver encodes them, all others wait."""

_PAUSE_AFTER_FAILURE_SECONDS: Final = 5.0

_ENTRY_FIELDS: Final = (
    *("_id", "organization_id", "workflow_id", "run_id", "is_generated", "is_approved"),
    *("created_at", "updated_at", "name_order", "machine_id", "authors", "review"),
)
_READ_FIELDS: Final = dict.fromkeys((*_ENTRY_FIELDS, "search", "unindexed"), True)


class _Indexed(NamedTuple):
    """What a transaction has indexed, and the buckets that have become too large by it."""

    batch: Document
    large: list[bytes]


class TrajectoryIndexer:
    """Indexes trajectories for lists and searches, and keeps true what is known of those."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._entries = database.collection("trajectory_entries")
        self._counts = TrajectoryCounts(database)
        self._open = OpenBatches(database)

    async def change(self, session: Session, before: Document, after: Document) -> None:
        """Index a trajectory as it is after a change; its mark then is that of an indexed one."""
        entry = entry_of(after)
        if not await self._is_indexed(session, before):
            # It meets whoever indexes it at this moment: there is one entry with this id.
            segment = await self._segment(session, after["organization_id"])
            await self._entries.insert_one({**entry, "segment": segment}, session=session)
            await self._counts.add(session, [CountedTrajectory.of(after)])
            return
        known = entry_of(before)
        changed = {name: value for name, value in entry.items() if value != known.get(name)}
        if changed:
            await self._entries.update_one(
                {"_id": entry["_id"]}, {"$set": changed}, session=session
            )
        await self._counts.change(
            session, CountedTrajectory.of(before), CountedTrajectory.of(after)
        )

    async def remove(self, session: Session, document: Document) -> None:
        """Take a trajectory out that is about to be deleted."""
        if await self._is_indexed(session, document):
            await self._counts.remove(session, CountedTrajectory.of(document))
        else:
            # So that it meets whoever indexes it at this moment, who sees the trajectory still.
            await self._entries.insert_one({"_id": document["_id"]}, session=session)
        await self._entries.delete_one({"_id": document["_id"]}, session=session)

    async def _is_indexed(self, session: Session, document: Document) -> bool:
        if not is_new(document):
            return True
        wanted = {"_id": document["_id"]}
        return await self._entries.find_one(wanted, {"_id": True}, session=session) is not None

    async def _segment(self, session: Session | None, organization_id: UUID) -> int:
        """Where new entries go: by how many there are, which need not be exact."""
        async with self._database.bounded():
            return await self._counts.size(session, organization_id) // SEGMENT

    async def run(self) -> None:
        """Index whatever comes, for ever.  Several nodes may do so at once.

        One batch at a time: a second one under way in this process would index a tenth more in a
        second, and whoever asks for a list meanwhile would wait half as long again.
        """
        while True:
            try:
                pause = 0.0 if await self.index_some() else POLL_SECONDS
            except StoreError as error:
                logger.warning("new trajectories could not be entered yet: %s", error)
                pause = _PAUSE_AFTER_FAILURE_SECONDS
            await asyncio.sleep(pause)

    async def index_all(self) -> None:
        """Index all that are new now."""
        while await self.index_some():
            pass

    async def index_some(self) -> int:
        """Index a batch of new trajectories; how many were found.  Raises a StoreError."""
        batch = _batch(await self._read())
        await self._index_and_finish(batch)
        return len(batch)

    async def _read(self) -> list[Document]:
        async with self._database.operation():
            cursor = self._trajectories.find(
                marked_new(await self._open.marks()),
                _READ_FIELDS,
                limit=BATCH,
                batch_size=_ENCODED_AT_ONCE,
                hint="unindexed",
            )
            return await cursor.to_list(None)

    async def _index_and_finish(self, batch: Sequence[Document]) -> None:
        if not batch:
            await self._open.finish_all()
            return
        entries = await self._entries_of(batch)
        tries = chain([batch], repeat(batch[:SMALL_BATCH]))
        indexed = await in_transaction(
            self._database, lambda session: self._index(session, next(tries), entries)
        )
        if indexed is not None:
            await self._open.finish(indexed.batch)
            for bucket in indexed.large:
                await in_transaction(self._database, partial(self._counts.split, bucket=bucket))

    async def _entries_of(self, batch: Sequence[Document]) -> list[Document]:
        segments = {
            own: await self._segment(None, own)
            for own in {document["organization_id"] for document in batch}
        }
        entries = []
        for number, document in enumerate(batch):
            segment = segments[document["organization_id"]]
            entries.append({**entry_of(document), "segment": segment})
            if number % _BLOCKING_DOCUMENTS == 0:
                await asyncio.sleep(0)
        return entries

    async def _index(
        self, session: Session, batch: Sequence[Document], entries: Iterable[Document]
    ) -> _Indexed | None:
        """Index those of a batch that are not indexed yet, nor deleted; their entries are given."""
        left = await self._unindexed(session, batch)
        documents = [each for each in batch if each["_id"] in left]
        if not documents:
            return None
        wanted = (each for each in entries if each["_id"] in left)
        while some := list(islice(wanted, _ENCODED_AT_ONCE)):
            await self._entries.insert_many(some, session=session)
        marked = [
            Marked(each["_id"], each["unindexed"], indexed_mark(each)["unindexed"])
            for each in documents
        ]
        opened = await self._open.add(session, marked)
        return _Indexed(
            opened, await self._counts.add(session, map(CountedTrajectory.of, documents))
        )

    async def _unindexed(self, session: Session, batch: Sequence[Document]) -> set[bytes]:
        """The ids of those of a batch that still have the mark that was read, with no entry."""
        known = set(await self._open.marks(session))
        marks = [mark for each in batch if (mark := each["unindexed"]) not in known]
        cursor = self._trajectories.find(
            {"_id": {"$in": [each["_id"] for each in batch]}, "unindexed": {"$in": marks}},
            {"_id": True},
            hint="_id_",
            session=session,
        )
        return {each["_id"] async for each in cursor}


def _batch(documents: Sequence[Document]) -> Sequence[Document]:
    """The first ones of these documents, as many as are indexed at once."""
    keys = 0
    for number, document in enumerate(documents, 1):
        keys += len(document["search"])
        if keys > MAX_KEYS:
            return documents[:number]
    return documents


def entry_of(document: Document) -> Document:
    """The entry for a trajectory's document; where its texts are too long, one without them."""
    keys = suffix_keys(document["search"])
    texts = (
        {"search": None, "suffixes": []}
        if keys is None
        else {"search": document["search"], "suffixes": keys}
    )
    # What was not recorded has no machine, and what is open no review, here and there.
    return {name: document[name] for name in _ENTRY_FIELDS if name in document} | texts
