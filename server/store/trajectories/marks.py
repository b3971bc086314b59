"""Marks: which trajectories the list index does not know yet, in every snapshot of the database.

A new trajectory has a mark of its own that never comes again, not even for an id that was deleted
and stored anew.  The transaction that indexes a batch leaves the marks alone: to change a
trajectory in a transaction costs several times what it costs outside of one.  It writes a document
with the marks of its batch instead, and as long as that is there, those marks say nothing.  Then
they are taken away, and the document goes.  Anybody may finish what somebody else has begun, in
whatever order: what takes a mark away names it.
"""

import asyncio
import time
from collections.abc import Sequence
from secrets import token_hex
from typing import Final, NamedTuple

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from server.store.trajectories.search import is_long

LONG: Final = "long"
"""The mark of an indexed one whose texts are too long for an entry: searches read those through."""

MOST_WAITING: Final = 5000
"""While more wait to be indexed, imports wait: lists and searches go through all of those."""

MOST_SECONDS: Final = 1.0
"""And no longer than this with each group: nobody may be there who indexes."""

_NEW: Final = "new"
_POLL_SECONDS: Final = 0.02
_MARK_BYTES: Final = 8


MARKED_LONG: Final[Document] = {"unindexed": LONG}
"""The filter for those."""


def new_mark() -> Document:
    """The mark to store a new trajectory with."""
    return {"unindexed": _NEW + token_hex(_MARK_BYTES)}


def is_new(document: Document) -> bool:
    """Whether a trajectory has such a mark: then it may or may not be indexed."""
    return str(document["unindexed"] or "").startswith(_NEW)


def indexed_mark(document: Document) -> Document:
    """The mark of a trajectory that is indexed for certain, whose texts are ``search``."""
    return {"unindexed": LONG if is_long(document["search"]) else None}


def marked_new(known: Sequence[str] = ()) -> Document:
    """The filter for those with a new mark, but for ``known`` marks."""
    # The other mark stands before it in the order of texts.
    return {"unindexed": {"$gte": _NEW, **({"$nin": known} if known else {})}}


async def until_few_wait(database: Database) -> None:
    """Wait, for a moment, until no more wait to be indexed than lists and searches bear."""
    trajectories = database.collection("trajectories")
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        async with database.operation():
            waiting = await trajectories.count_documents(
                marked_new(), hint="unindexed", limit=MOST_WAITING + 1
            )
        if waiting <= MOST_WAITING:
            return
        await asyncio.sleep(_POLL_SECONDS)


class Marked(NamedTuple):
    """A trajectory as it was read: its ``_id``, its mark, and the one that it gets."""

    id: bytes
    mark: str
    then: str | None


class OpenBatches:
    """The batches that are indexed and whose marks are not all taken away yet."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batches = database.collection("trajectory_batches")
        self._trajectories = database.collection("trajectories")

    async def marks(self, session: Session | None = None) -> list[str]:
        """The marks that say nothing any more, in a snapshot or now."""
        cursor = self._batches.find({}, {"marks": True}, session=session)
        return [mark async for each in cursor for mark in each["marks"]]

    async def marks_with_texts(self, session: Session) -> set[str]:
        """Those of them whose trajectories have an entry to search in."""
        cursor = self._batches.find({}, {"marks": True, "then": True}, session=session)
        return {
            mark
            async for each in cursor
            for mark, then in zip(each["marks"], each["then"], strict=True)
            if then is None
        }

    async def add(self, session: Session, batch: Sequence[Marked]) -> Document:
        """Say in the transaction that indexes these that they are; what is to be finished then."""
        ids, marks, then = (list(each) for each in zip(*batch, strict=True))
        document: Document = {"ids": ids, "marks": marks, "then": then}
        await self._batches.insert_one(document, session=session)
        return document

    async def finish_all(self) -> None:
        """Finish all batches that are open now: whoever began them may be gone."""
        async with self._database.operation():
            found = await self._batches.find({}).to_list(None)
        for batch in found:
            await self.finish(batch)

    async def finish(self, batch: Document) -> None:
        """Take the marks of a batch away; somebody else may have done so."""
        of: dict[str | None, list[bytes]] = {}
        for own, then in zip(batch["ids"], batch["then"], strict=True):
            of.setdefault(then, []).append(own)
        async with self._database.operation():
            for mark, ids in of.items():
                # By its mark as well: what was changed or stored anew since keeps what it has.
                await self._trajectories.update_many(
                    {"_id": {"$in": ids}, "unindexed": {"$in": batch["marks"]}},
                    {"$set": {"unindexed": mark}},
                    hint="_id_",
                )
            await self._batches.delete_one({"_id": batch["_id"]})
