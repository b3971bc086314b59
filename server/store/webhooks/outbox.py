"""What is to be posted to webhooks: claimed for a time by a node, and tried until it is over.

A delivery that is claimed is due again when its lease ends: one whose node died goes on from any
other, under the same id.
"""

import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.mongodb.transactions import Session
from server.store.times import now

KEPT: Final = timedelta(days=7)
"""How long a delivery that has ended can be looked at, and sent again."""

DIGEST: Final = "digest"
"""The event that others are kept in, to be posted together."""

MOST_IN_DIGEST: Final = 200
"""Events, each of at most 64 KiB, as MongoDB takes 16 MiB in a document; of more the newest."""

LEASE: Final = timedelta(seconds=45)
"""Longer than a try may take by far."""

_OLDEST_FIRST: Final = [("created_at", 1)]
"""As an index has them: with more in it, 100,000 would be sorted for each."""


@dataclass(frozen=True)
class StoredDelivery:
    """A delivery as it is stored; ``queued_at`` is when its three days began.

    ``claim`` is another one for each try.  ``events`` are those of a digest, which has no
    ``body``, the newest of ``events_total``.  ``next_attempt_at`` is None once it has ended.
    """

    id: UUID
    organization_id: UUID
    webhook_id: UUID
    event: str
    body: str
    state: str
    attempts: int
    created_at: datetime
    queued_at: datetime
    next_attempt_at: datetime | None
    status: int | None = None
    error: str | None = None
    last_attempt_at: datetime | None = None
    claim: UUID | None = None
    events: Sequence[Document] = ()
    events_total: int = 0


@dataclass(frozen=True)
class OutboxSize:
    """How much waits in the outbox of all organizations, and since when."""

    waiting: int = 0
    oldest: datetime | None = None


def new_delivery(
    organization_id: UUID, webhook_id: UUID, delivery_id: UUID, event: str, body: str
) -> StoredDelivery:
    """A delivery that was not tried yet."""
    time = now()
    return StoredDelivery(
        id=delivery_id,
        organization_id=organization_id,
        webhook_id=webhook_id,
        event=event,
        body=body,
        state="waiting",
        attempts=0,
        created_at=time,
        queued_at=time,
        next_attempt_at=time,
    )


class Outbox:
    """The deliveries of all organizations; ``most`` are kept of each, ended ones among them."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._deliveries = database.collection("webhook_deliveries")
        self._webhooks = database.collection("webhooks")
        self._most = most

    async def add(self, delivery: StoredDelivery) -> int:
        """Store a new delivery; how many others were dropped for it, unsent."""
        async with self._database.operation():
            await self._deliveries.insert_one(_document(delivery))
        return await self.make_room(delivery.organization_id)

    async def insert_in(self, session: Session, deliveries: Sequence[StoredDelivery]) -> None:
        """Store new deliveries in a transaction; ``make_room`` after it."""
        whole = [_document(each) for each in deliveries if not each.events]
        if whole:
            await self._deliveries.insert_many(whole, session=session)
        for digest in (each for each in deliveries if each.events):
            fresh = _document(digest)
            events, total = fresh.pop("events"), fresh.pop("events_total")
            await self._deliveries.update_one(
                {"_id": digest.id},
                {
                    "$setOnInsert": fresh,
                    "$push": {"events": {"$each": events, "$slice": -MOST_IN_DIGEST}},
                    "$inc": {"events_total": total},
                },
                upsert=True,
                session=session,
            )

    async def make_room(self, organization_id: UUID) -> int:
        """Remove what is beyond the bound; how many that removed unsent.

        The oldest that have ended go, then the oldest of all.
        """
        wanted: Document = {"organization_id": organization_id}
        async with self._database.operation():
            surplus = await self._deliveries.count_documents(wanted) - self._most
        dropped: dict[UUID, int] = {}
        for states in (["delivered", "failed"], ["waiting"]):
            if surplus <= 0:
                break
            some = {**wanted, "state": {"$in": states}}
            cursor = self._deliveries.find(
                some, projection=["webhook_id", "state"], sort=_OLDEST_FIRST, limit=surplus
            )
            found = [each async for each in self._database.documents(cursor)]
            async with self._database.operation():
                await self._deliveries.delete_many(
                    {"_id": {"$in": [each["_id"] for each in found]}}
                )
            surplus -= len(found)
            for each in found:
                if each["state"] == "waiting":
                    dropped[each["webhook_id"]] = dropped.get(each["webhook_id"], 0) + 1
        for webhook_id, count in dropped.items():
            async with self._database.operation():
                await self._webhooks.update_one({"_id": webhook_id}, {"$inc": {"dropped": count}})
        return sum(dropped.values())

    async def first_due(self) -> Mapping[UUID, datetime]:
        """Of each webhook for which something waits, when the first of that is due."""
        # Read from the index alone, one entry of each webhook.
        async with self._database.operation():
            found = await self._deliveries.aggregate(
                [
                    {"$match": {"state": "waiting"}},
                    {"$sort": {"webhook_id": 1, "next_attempt_at": 1}},
                    {"$group": {"_id": "$webhook_id", "due": {"$first": "$next_attempt_at"}}},
                ],
                hint="due",
            ).to_list(None)
        return {each["_id"]: each["due"] for each in found}

    async def claim(self, webhook_id: UUID) -> StoredDelivery | None:
        """Take the first that is due to one webhook, for a time; None where none is."""
        time = now()
        wanted = {
            "webhook_id": webhook_id,
            "state": "waiting",
            "next_attempt_at": {"$lte": time},
        }
        change: Document = {
            "$set": {"next_attempt_at": time + LEASE, "last_attempt_at": time, "claim": uuid4()},
            "$inc": {"attempts": 1},
        }
        async with self._database.operation():
            found = await self._deliveries.find_one_and_update(
                wanted,
                change,
                sort=[("next_attempt_at", 1)],
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else _delivery(found)

    async def note(
        self,
        tried: StoredDelivery,
        status: int | None,
        error: str | None,
        *,
        again_at: datetime | None,
    ) -> None:
        """Note how a try went; nothing happens where it was claimed again since.

        Without an ``error`` it is delivered; with one it is tried ``again_at``, or given up.
        """
        change: Document = {"status": status, "error": error, "next_attempt_at": again_at}
        change["state"] = "delivered" if error is None else "waiting" if again_at else "failed"
        if again_at is None:
            change["delete_at"] = now() + KEPT
        async with self._database.operation():
            await self._deliveries.update_one(
                {"_id": tried.id, "claim": tried.claim}, {"$set": change}
            )

    async def resend(
        self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID
    ) -> StoredDelivery | None:
        """Have a delivery tried at once, and for three days more; None where there is none.

        Nor is there a digest until it is due: what came later would be posted with none.
        """
        time = now()
        wanted = {
            "_id": delivery_id,
            "organization_id": organization_id,
            "webhook_id": webhook_id,
            "$or": [{"event": {"$ne": DIGEST}}, {"queued_at": {"$lte": time}}],
        }
        again = {"state": "waiting", "next_attempt_at": time, "queued_at": time}
        async with self._database.operation():
            found = await self._deliveries.find_one_and_update(
                wanted,
                {"$set": again, "$unset": {"delete_at": ""}},
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else _delivery(found)

    async def list(
        self, webhook_id: UUID, page: PageQuery
    ) -> tuple[builtins.list[StoredDelivery], int]:
        """One page of a webhook's deliveries, newest first, and how many there are in all."""
        wanted = {"webhook_id": webhook_id}
        order = [("created_at", -1), ("_id", -1)]
        cursor = self._deliveries.find(wanted, sort=order, skip=page.skip, limit=page.limit)
        found = [_delivery(each) async for each in self._database.documents(cursor)]
        async with self._database.operation():
            return found, await self._deliveries.count_documents(wanted)

    async def size(self) -> OutboxSize:
        """How much waits, for metrics."""
        waiting = {"state": "waiting"}
        async with self._database.operation():
            count = await self._deliveries.count_documents(waiting, hint="due")
        if not count:
            return OutboxSize()
        async with self._database.operation():
            first = await self._deliveries.find_one(
                waiting, projection=["queued_at"], sort=[("queued_at", 1)]
            )
        return OutboxSize(count, None if first is None else first["queued_at"])

    async def forget(self, deliveries: Collection[StoredDelivery]) -> None:
        """Remove deliveries whose webhook is gone."""
        ids = [each.id for each in deliveries]
        async with self._database.operation():
            await self._deliveries.delete_many({"_id": {"$in": ids}})


def _document(delivery: StoredDelivery) -> Document:
    document = {**vars(delivery), "_id": delivery.id}
    del document["id"]
    return document


def _delivery(document: Document) -> StoredDelivery:
    fields: dict[str, Any] = fields_of(StoredDelivery, document)
    return StoredDelivery(id=document["_id"], **fields)
