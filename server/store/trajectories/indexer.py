"""The list index: what lists and searches know of trajectories, beside the trajectories themselves.

A trajectory that is new or changed is ``unindexed: "new"``: it is found by going through all of
those, which are few.  Soon after, a transaction indexes it: an entry to search in, and one more in
the counts.  From then on the mark is null, or ``"long"`` where its texts are too long for an entry
and go on to be read through.  Whatever changes it unindexes it first, in the same transaction.  So
every trajectory is either marked or indexed, in every snapshot of the database.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from itertools import chain, repeat
from typing import Final

from server.store.errors import StoreError
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id
from server.store.mongodb.transactions import Session, in_transaction
from server.store.trajectories.counts import CountedTrajectory, TrajectoryCounts
from server.store.trajectories.search import search_text, suffix_keys

logger = logging.getLogger(__name__)

UNINDEXED: Final[Document] = {"unindexed": "new"}
"""The mark of a trajectory that no entry and no count knows, and the filter for those."""

WITHOUT_ENTRY: Final[Document] = {"unindexed": {"$gt": ""}}
"""The filter for those, and for the long ones: what a search reads through."""

BATCH: Final = 400
"""So many are indexed at once; whoever changes one of them meanwhile has to try again."""

SMALL_BATCH: Final = 50
"""So many where somebody does change them, so that not all is done again and again."""

MAX_KEYS: Final = 50_000
"""A batch ends where its entries have more keys to search by: writing those takes the time."""

POLL_SECONDS: Final = 1.0
_PAUSE_AFTER_FAILURE_SECONDS: Final = 5.0

_ENTRY_FIELDS: Final = (
    *("_id", "organization_id", "workflow_id", "run_id", "is_generated", "is_approved"),
    *("created_at", "updated_at"),
)
_READ_FIELDS: Final = dict.fromkeys((*_ENTRY_FIELDS, "name", "description"), True)


class TrajectoryIndexer:
    """Indexes trajectories for lists and searches, and takes them out of the index."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._entries = database.collection("trajectory_entries")
        self._counts = TrajectoryCounts(database)

    async def unindex(self, session: Session, document: Document) -> Document:
        """Take a trajectory out, whose document was read in this transaction; the mark to write."""
        if document["unindexed"] != "new":
            await self._counts.remove(session, CountedTrajectory.of(document))
            await self._entries.delete_one({"_id": document["_id"]}, session=session)
        return UNINDEXED

    async def run(self) -> None:
        """Index whatever comes, for ever.  Several nodes may do so at once."""
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
        """Index a batch of new trajectories; how many there were.  Raises a StoreError."""
        limits = chain([BATCH], repeat(SMALL_BATCH))
        count, large = await in_transaction(
            self._database, lambda session: self._index(session, next(limits))
        )
        for bucket in large:
            await in_transaction(self._database, partial(self._counts.split, bucket=bucket))
        return count

    async def _index(self, session: Session, limit: int) -> tuple[int, list[bytes]]:
        cursor = self._trajectories.find(
            UNINDEXED, _READ_FIELDS, limit=limit, hint="unindexed", session=session
        )
        documents, entries = _batch(await cursor.to_list(None))
        if not documents:
            return 0, []
        if entries:
            await self._entries.insert_many(entries, session=session)
        indexed = {entry["_id"] for entry in entries}
        too_long = {document["_id"] for document in documents} - indexed
        for mark, ids in ((None, indexed), ("long", too_long)):
            if ids:
                await self._trajectories.update_many(
                    {"_id": {"$in": list(ids)}}, {"$set": {"unindexed": mark}}, session=session
                )
        return len(documents), await self._counts.add(session, map(CountedTrajectory.of, documents))


def _batch(documents: Sequence[Document]) -> tuple[Sequence[Document], list[Document]]:
    """The first ones of these documents, as many as are indexed at once; and their entries."""
    entries: list[Document] = []
    keys = 0
    for number, document in enumerate(documents, 1):
        if entry := entry_of(document):
            entries.append(entry)
            keys += len(entry["suffixes"])
        if keys > MAX_KEYS:
            return documents[:number], entries
    return documents, entries


def entry_of(document: Document) -> Document | None:
    """The entry for a trajectory's document; None where its texts are too long for one."""
    text = search_text(own_id(document["_id"]), document["name"], document["description"])
    keys = suffix_keys(text)
    if keys is None:
        return None
    return {name: document[name] for name in _ENTRY_FIELDS} | {"search": text, "suffixes": keys}
