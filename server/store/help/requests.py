"""Help requests: asked once, ended once, at their time by MongoDB's clock for all nodes."""

import builtins
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from pymongo import ReturnDocument

from schemas.help.requests import (
    KEPT_DAYS,
    MOST_OPEN,
    MOST_OPEN_OF_MACHINE,
    HelpAnswer,
    HelpKind,
    HelpState,
)
from server.errors import WrongState
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.mongodb.transactions import Session
from server.store.times import now
from server.store.webhooks.outbox import Outbox, StoredDelivery

OPEN: Final[HelpState] = "open"

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]
_IS_OVER: Final[Document] = {"$expr": {"$lte": ["$expires_at", "$$NOW"]}}
_HAS_TIME: Final[Document] = {"$expr": {"$gt": ["$expires_at", "$$NOW"]}}
_KEPT: Final = timedelta(days=KEPT_DAYS)


@dataclass(frozen=True)
class StoredHelp:
    """A help request as it is stored."""

    id: UUID
    organization_id: UUID
    machine_id: str
    kind: HelpKind
    reason: str
    created_at: datetime
    expires_at: datetime
    by: str
    token_id: UUID
    user_id: UUID | None
    state: HelpState = OPEN
    answer: HelpAnswer | None = None
    comment: str | None = None
    answered_by: str | None = None
    ended_at: datetime | None = None
    run_id: UUID | None = None


@dataclass(frozen=True)
class EndingHelp:
    """An open one, ``seconds_left`` before its time; that is not above zero once it is over."""

    stored: StoredHelp
    seconds_left: float


class HelpStore:
    """Reads and ends help requests; what is asked by an organization sees its own alone."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._requests = database.collection("help_requests")

    async def get(self, organization_id: UUID, help_id: UUID) -> StoredHelp | None:
        """The request, or None."""
        wanted = {"_id": help_id, "organization_id": organization_id}
        async with self._database.operation():
            found = await self._requests.find_one(wanted)
        return None if found is None else _stored(found)

    async def list(
        self,
        organization_id: UUID,
        *,
        machine_ids: Collection[str] | None,
        state: HelpState | None,
        skip: int,
        limit: int,
    ) -> tuple[builtins.list[StoredHelp], int]:
        """One page of them, newest first, and how many there are; of these machines, if given."""
        wanted: Document = {"organization_id": organization_id}
        if machine_ids is not None:
            wanted["machine_id"] = {"$in": sorted(machine_ids)}
        if state is not None:
            wanted["state"] = state
        cursor = self._requests.find(wanted, sort=_NEWEST_FIRST, skip=skip, limit=limit)
        found = [_stored(each) async for each in self._database.documents(cursor)]
        async with self._database.operation():
            return found, await self._requests.count_documents(wanted)

    async def answered_among(self, help_ids: Collection[UUID]) -> set[UUID]:
        """Which of these requests, of whichever organizations, people have answered."""
        if not help_ids:
            return set()
        wanted = {"_id": {"$in": [*help_ids]}, "state": "answered"}
        cursor = self._requests.find(wanted, projection={"_id": True})
        return {found["_id"] async for found in self._database.documents(cursor)}

    async def open_of_run(
        self, organization_id: UUID, machine_id: str, run_id: UUID
    ) -> builtins.list[StoredHelp]:
        """What a run asks about its machine; more than one where a node was killed as it asked."""
        wanted = {"organization_id": organization_id, "state": OPEN, "machine_id": machine_id}
        cursor = self._requests.find({**wanted, "run_id": run_id})
        return [_stored(each) async for each in self._database.documents(cursor)]

    async def answer(
        self, asked: StoredHelp, answer: HelpAnswer, comment: str | None, by: str
    ) -> StoredHelp | None:
        """Answer one that is open and has time left; None where it is not so."""
        changes = {"answer": answer, "comment": comment, "answered_by": by}
        return await self._end(asked, "answered", _HAS_TIME, **changes)

    async def withdraw(self, asked: StoredHelp) -> StoredHelp | None:
        """End one that is open, and that nobody is to answer any more; None where it is not so."""
        return await self._end(asked, "withdrawn", _HAS_TIME)

    async def end_if_over(self, asked: StoredHelp) -> StoredHelp | None:
        """End one whose time is over; None where it is not, or has ended already."""
        return await self._end(asked, "timed_out", _IS_OVER)

    async def first_to_end(self) -> EndingHelp | None:
        """Of all organizations' open ones the one whose time comes, or came, first."""
        left = {"$subtract": ["$expires_at", "$$NOW"]}
        projection = {**dict.fromkeys(StoredHelp.__dataclass_fields__, 1), "left": left}
        async with self._database.operation():
            found = await self._requests.find_one(
                {"state": OPEN}, projection=projection, sort=[("expires_at", 1)]
            )
        return None if found is None else EndingHelp(_stored(found), found["left"] / 1000)

    async def _end(
        self, asked: StoredHelp, state: HelpState, condition: Document, **changes: Any
    ) -> StoredHelp | None:
        moment = now()
        ended = {"state": state, "ended_at": moment, "delete_at": moment + _KEPT, **changes}
        async with self._database.operation():
            found = await self._requests.find_one_and_update(
                {"_id": asked.id, "state": OPEN, **condition},
                {"$set": ended},
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else _stored(found)


class HelpWrites:
    """Help requests as one transaction writes them.

    Raises the driver's own errors, which say whether to try the transaction again.
    """

    def __init__(self, database: Database, session: Session) -> None:
        self._session = session
        self._requests = database.collection("help_requests")

    async def insert(
        self, new: StoredHelp, outbox: Outbox, deliveries: Sequence[StoredDelivery]
    ) -> None:
        """Store a new one, and what webhooks are told of it.

        Raises WrongState where as many are open as may be.
        """
        about = {"organization_id": new.organization_id, "state": OPEN}
        of_machine = {**about, "machine_id": new.machine_id}
        if await self._count(of_machine, MOST_OPEN_OF_MACHINE) >= MOST_OPEN_OF_MACHINE:
            raise WrongState(
                f"{MOST_OPEN_OF_MACHINE} requests about machine {new.machine_id!r} are open, and "
                "no more may be: wait for an answer, or withdraw one"
            )
        if await self._count(about, MOST_OPEN) >= MOST_OPEN:
            raise WrongState(
                f"{MOST_OPEN:,} requests of the organization are open, and no more may be: wait "
                "for answers, or withdraw some"
            )
        document = {**vars(new), "_id": new.id}
        del document["id"]
        await self._requests.insert_one(document, session=self._session)
        await outbox.insert_in(self._session, deliveries)

    async def _count(self, wanted: Document, most: int) -> int:
        return await self._requests.count_documents(wanted, limit=most, session=self._session)


def _stored(document: Document) -> StoredHelp:
    return StoredHelp(id=document["_id"], **fields_of(StoredHelp, document))
