"""The catalogue: what lists and searches know of trajectories, beside the trajectories themselves.

A trajectory that is new or changed is ``uncatalogued: "new"``: it is found by going through all of
those, which are few.  Soon after, a transaction enters it: an entry to search in, and one more in
the counts.  From then on the mark is null, or ``"long"`` where its texts are too long for an entry
and go on to be read through.  Whatever changes it withdraws it first, in the same transaction.  So
every trajectory is either marked or entered, in every snapshot of the database.
"""

import asyncio
import logging
from functools import partial
from typing import Final

from server.store.errors import StoreError
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id
from server.store.mongodb.transactions import Session, in_transaction
from server.store.trajectories.counts import Counted, TrajectoryCounts
from server.store.trajectories.search import search_text, suffix_keys

logger = logging.getLogger(__name__)

NEW: Final[Document] = {"uncatalogued": "new"}
"""The mark of a trajectory that no entry and no count knows."""

WITHOUT_ENTRY: Final[Document] = {"uncatalogued": {"$gt": ""}}
"""The filter for those, and for the long ones: what a search reads through."""

BATCH: Final = 50
"""As many are entered at once; whoever changes one of them meanwhile has to try again."""

POLL_SECONDS: Final = 1.0
_PAUSE_AFTER_FAILURE_SECONDS: Final = 5.0

_ENTERED: Final = (
    *("_id", "organization_id", "workflow_id", "run_id", "is_generated", "is_approved"),
    *("created_at", "updated_at"),
)
_READ: Final = dict.fromkeys((*_ENTERED, "name", "description"), True)


class TrajectoryCatalogue:
    """Enters trajectories into the catalogue and withdraws them from it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._entries = database.collection("trajectory_entries")
        self._counts = TrajectoryCounts(database)

    async def withdraw(self, session: Session, document: Document) -> Document:
        """Forget what is known of a trajectory, read in this transaction; the mark to write."""
        if document.get("uncatalogued") != "new":
            await self._counts.remove(session, Counted.of(document))
            await self._entries.delete_one({"_id": document["_id"]}, session=session)
        return NEW

    async def run(self) -> None:
        """Enter whatever comes, for ever.  Several nodes may do so at once."""
        while True:
            try:
                pause = 0.0 if await self.enter_some() else POLL_SECONDS
            except StoreError as error:
                logger.warning("new trajectories could not be entered yet: %s", error)
                pause = _PAUSE_AFTER_FAILURE_SECONDS
            await asyncio.sleep(pause)

    async def enter_all(self) -> None:
        """Enter all that are new now."""
        while await self.enter_some():
            pass

    async def enter_some(self) -> int:
        """Enter a batch of new trajectories; how many there were.  Raises a StoreError."""
        count, large = await in_transaction(self._database, self._enter)
        for bucket in large:
            await in_transaction(self._database, partial(self._counts.split, bucket=bucket))
        return count

    async def _enter(self, session: Session) -> tuple[int, list[bytes]]:
        cursor = self._trajectories.find(
            NEW, _READ, limit=BATCH, hint="uncatalogued", session=session
        )
        documents = [document async for document in cursor]
        if not documents:
            return 0, []
        entries = [entry for document in documents if (entry := entry_of(document))]
        if entries:
            await self._entries.insert_many(entries, session=session)
        entered = {entry["_id"] for entry in entries}
        too_long = {document["_id"] for document in documents} - entered
        for mark, ids in ((None, entered), ("long", too_long)):
            if ids:
                await self._trajectories.update_many(
                    {"_id": {"$in": list(ids)}}, {"$set": {"uncatalogued": mark}}, session=session
                )
        return len(documents), await self._counts.add(session, map(Counted.of, documents))


def entry_of(document: Document) -> Document | None:
    """The entry for a trajectory's document; None where its texts are too long for one."""
    text = search_text(own_id(document["_id"]), document["name"], document["description"])
    keys = suffix_keys(text)
    if keys is None:
        return None
    return {name: document[name] for name in _ENTERED} | {"search": text, "suffixes": keys}
