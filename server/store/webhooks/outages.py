"""Which machines are gone or back, and not told of yet; each is told of once, with its deliveries.

A machine's document says what is owed in ``word``: when its link ends and when the next begins.
What is told and what is to be posted about it are written together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pymongo import UpdateOne

from server.store.machines.documents import BACK, GONE, LINK_ENDED, TOLD, existing
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now
from server.store.webhooks.outbox import Outbox, StoredDelivery

MOST_COUNTED: Final = 200
"""Pools that metrics speak of, in all: each is a series of its own."""

_MOST: Final = 10_000
"""Of all that are owed, in one look."""

_OWED_FIELDS: Final = (
    *("organization_id", "machine_id", "name", "pools", "word", "reason", "expected_offline"),
    *("connected_at", "disconnected_at", "lost_at"),
)


@dataclass(frozen=True)
class Owed:
    """A machine that is gone, or back, since a time; ``key`` is its document's."""

    key: Any
    organization_id: UUID
    machine_id: str
    name: str
    pools: Sequence[UUID]
    is_back: bool
    since: datetime
    reason: str | None
    expected_until: datetime | None = None


@dataclass(frozen=True)
class Expected:
    """Until when a machine may be away without a word, why, and who said so."""

    until: datetime
    reason: str | None
    by: str


class _ChangedError(Exception):
    """Something else has become of one of the machines since."""


class OutageStore:
    """Finds the machines of all organizations that somebody is to be told of."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self._database = database
        self._machines = database.collection("machines")
        self._pools = database.collection("pools")
        self._outbox = outbox

    async def note_lost(self, node_id: UUID) -> None:
        """Note machines whose links a node held that is gone, where this one is alone."""
        wanted = {
            "link.node_id": {"$ne": node_id},
            "connected_at": {"$ne": None},
            "disconnected_at": None,
            "deleted_at": None,
            "word": {"$nin": [GONE, TOLD]},
        }
        change = {"$set": {"word": GONE, "lost_at": now()}}
        async with self._database.operation():
            await self._machines.update_many(wanted, change)

    async def owed(self) -> list[Owed]:
        """What is owed, but of machines that may be away still, the oldest first."""
        # The index has those that have a word, and is used where the query says so, too.
        wanted = {
            "word": {"$in": [GONE, BACK], "$type": "string"},
            "deleted_at": None,
            "$or": [{"word": BACK}, {"expected_offline.until": {"$not": {"$gt": now()}}}],
        }
        cursor = self._machines.find(wanted, projection=_OWED_FIELDS, limit=_MOST)
        found = [_owed(each) async for each in self._database.documents(cursor)]
        return sorted(found, key=lambda each: each.since)

    async def expect(
        self, organization_id: UUID, machine_id: str, expected: Expected | None
    ) -> bool:
        """Expect a machine to be away, or (None) not any more; False where there is none."""
        change = {"$set": {"expected_offline": expected and vars(expected)}}
        async with self._database.operation():
            result = await self._machines.update_one(existing(organization_id, machine_id), change)
        return result.matched_count == 1

    async def expected(self, organization_id: UUID, machine_id: str) -> Expected | None:
        """What was said of a machine, whether it is over or not; None where nothing was."""
        async with self._database.operation():
            found = await self._machines.find_one(
                existing(organization_id, machine_id), projection=["expected_offline"]
            )
        return _expected(found or {})

    async def missing(self) -> Mapping[UUID, int]:
        """Of each pool with a delay of its own, how many machines are away for longer."""
        pools = self._pools.find(
            {"offline_after": {"$type": "number"}}, projection=["_id"], sort=[("_id", 1)]
        ).limit(MOST_COUNTED)
        ids = [each["_id"] async for each in self._database.documents(pools)]
        if not ids:
            return {}
        # All machines that were told, or would have been, had anybody wanted to know.
        wanted = {"word": {"$eq": TOLD, "$type": "string"}, "deleted_at": None}
        in_pools = {"pools": {"$in": ids}}
        async with self._database.operation():
            found = await self._machines.aggregate(
                [
                    {"$match": {**wanted, **in_pools}},
                    {"$unwind": "$pools"},
                    {"$match": in_pools},
                    {"$group": {"_id": "$pools", "machines": {"$sum": 1}}},
                ]
            ).to_list(None)
        counts = {each["_id"]: each["machines"] for each in found}
        return {each: counts.get(each, 0) for each in ids}

    async def tell(self, told: Sequence[Owed], deliveries: Sequence[StoredDelivery]) -> bool:
        """Note that these were told, and store what tells it; False where one has changed since."""
        changes = [UpdateOne(_unchanged(each), _told(each)) for each in told]

        async def work(session: Session) -> None:
            result = await self._machines.bulk_write(changes, session=session)
            if result.matched_count != len(changes):
                raise _ChangedError
            await self._outbox.insert_in(session, deliveries)

        try:
            await in_transaction(self._database, work)
        except _ChangedError:
            return False
        return True


def _expected(document: Document) -> Expected | None:
    stored = document.get("expected_offline")
    return None if stored is None else Expected(**fields_of(Expected, stored))


def _unchanged(owed: Owed) -> Document:
    since = "connected_at" if owed.is_back else {"$ifNull": ["$disconnected_at", "$lost_at"]}
    moment = f"${since}" if isinstance(since, str) else since
    word = BACK if owed.is_back else GONE
    return {"_id": owed.key, "word": word, "$expr": {"$eq": [moment, owed.since]}}


def _told(owed: Owed) -> Document:
    return {"$set": {"word": None if owed.is_back else TOLD}}


def _owed(document: Document) -> Owed:
    is_back, expected = document["word"] == BACK, _expected(document)
    return Owed(
        key=document["_id"],
        organization_id=document["organization_id"],
        machine_id=document["machine_id"],
        name=document["name"],
        pools=document.get("pools", ()),
        is_back=is_back,
        since=_since(document, is_back=is_back),
        reason=None if is_back else document["reason"] or LINK_ENDED,
        expected_until=None if expected is None else expected.until,
    )


def _since(document: Document, *, is_back: bool) -> datetime:
    names = ("connected_at",) if is_back else ("disconnected_at", "lost_at")
    since: datetime = next(document[name] for name in names if document.get(name))
    return since
