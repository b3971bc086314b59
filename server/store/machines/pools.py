"""Pools of machines; which of them a machine is in, its own document says."""

import builtins
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from server.store.machines.documents import existing, noted
from server.store.mongodb.batches import Batches
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.times import now

PoolsOfMachine = tuple[UUID, Sequence[UUID]]
"""An organization, and the ids of some of its pools."""


@dataclass(frozen=True)
class StoredPool:
    """A pool as it is stored."""

    id: UUID
    organization_id: UUID
    name: str
    description: str | None
    created_at: datetime
    created_by: str
    offline_after: int | None = None


class PoolStore:
    """Every method sees the pools of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pools = database.collection("pools")
        self._machines = database.collection("machines")
        self._together = Batches(self._names_of_each, database.tasks, "read names of pools")

    async def create(
        self,
        organization_id: UUID,
        name: str,
        description: str | None,
        *,
        by: str,
        offline_after: int | None = None,
    ) -> StoredPool:
        """Store a new pool.  Raises AlreadyExists where the organization has one of this name."""
        pool = StoredPool(uuid4(), organization_id, name, description, now(), by, offline_after)
        document = {**vars(pool), "_id": pool.id}
        del document["id"]
        async with self._database.operation():
            await self._pools.insert_one(document)
        return pool

    async def count(self, organization_id: UUID) -> int:
        """How many the organization has."""
        async with self._database.operation():
            return await self._pools.count_documents({"organization_id": organization_id})

    async def get(self, organization_id: UUID, pool_id: UUID) -> StoredPool | None:
        """The pool, or None."""
        async with self._database.operation():
            found = await self._pools.find_one(_one(organization_id, pool_id))
        return None if found is None else _pool(found)

    async def list(
        self, organization_id: UUID, page: PageQuery, within: Collection[UUID] | None = None
    ) -> tuple[builtins.list[StoredPool], int]:
        """One page of the pools, or of those ``within``, by name, and how many there are in all."""
        wanted: Document = {"organization_id": organization_id}
        if within is not None:
            wanted["_id"] = {"$in": [*within]}
        async with self._database.operation():
            total = await self._pools.count_documents(wanted)
        cursor = self._pools.find(wanted, sort=[("name", 1)], skip=page.skip, limit=page.limit)
        return [_pool(found) async for found in self._database.documents(cursor)], total

    async def change(
        self, organization_id: UUID, pool_id: UUID, changes: Mapping[str, str | int | None]
    ) -> StoredPool | None:
        """Set fields of a pool; None where there is none.  Raises AlreadyExists, as ``create``."""
        async with self._database.operation():
            found = await self._pools.find_one_and_update(
                _one(organization_id, pool_id),
                {"$set": {**changes}},
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else _pool(found)

    async def delete(self, organization_id: UUID, pool_id: UUID) -> bool:
        """Delete a pool; False where there is none.

        Its machines stay, and are taken out of it: one that is not, as this process was killed,
        shows nothing of it.
        """
        async with self._database.operation():
            deleted = await self._pools.delete_one(_one(organization_id, pool_id))
        async with self._database.operation():
            wanted = {"organization_id": organization_id, "pools": pool_id}
            await self._machines.update_many(wanted, noted({"$pull": {"pools": pool_id}}))
        return deleted.deleted_count == 1

    async def machines_in(self, organization_id: UUID, pool_id: UUID) -> builtins.list[str]:
        """The ids of the machines that are in a pool."""
        wanted = {"organization_id": organization_id, "pools": pool_id, "deleted_at": None}
        cursor = self._machines.find(wanted, projection=["machine_id"])
        return [found["machine_id"] async for found in self._database.documents(cursor)]

    async def members(
        self,
        organization_id: UUID,
        pool_ids: Collection[UUID],
        among: Collection[str] | None = None,
    ) -> set[str]:
        """The ids of the machines that are in any of the pools now: all, or those of ``among``."""
        wanted: Document = {"organization_id": organization_id, "deleted_at": None}
        if among is not None:
            wanted["machine_id"] = {"$in": [*among]}
        wanted["pools"] = {"$in": [*pool_ids]}
        cursor = self._machines.find(wanted, projection={"_id": False, "machine_id": True})
        return {found["machine_id"] async for found in self._database.documents(cursor)}

    async def has_member(
        self, organization_id: UUID, pool_ids: Collection[UUID], machine_id: str
    ) -> bool:
        """Whether a machine is in any of the pools now."""
        wanted = existing(organization_id, machine_id) | {"pools": {"$in": [*pool_ids]}}
        async with self._database.operation():
            return await self._machines.find_one(wanted, projection={"_id": True}) is not None

    async def counts(self, organization_id: UUID, pool_ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """How many machines are in each of these pools."""
        if not pool_ids:
            return {}
        wanted = {
            "organization_id": organization_id,
            "deleted_at": None,
            "pools": {"$in": [*pool_ids]},
        }
        async with self._database.operation():
            found = await self._machines.aggregate(
                [
                    {"$match": wanted},
                    {"$unwind": "$pools"},
                    {"$group": {"_id": "$pools", "machines": {"$sum": 1}}},
                ]
            ).to_list(None)
        return Counter({each["_id"]: each["machines"] for each in found})

    async def ids_of(
        self, organization_id: UUID, ids: Collection[UUID], names: Collection[str] = ()
    ) -> Mapping[UUID | str, UUID]:
        """The ids of the pools that there are, by these ids and names."""
        wanted: Document = {
            "organization_id": organization_id,
            "$or": [{"_id": {"$in": [*ids]}}, {"name": {"$in": [*names]}}],
        }
        known: dict[UUID | str, UUID] = {}
        async for found in self._database.documents(self._pools.find(wanted)):
            known[found["_id"]] = known[found["name"]] = found["_id"]
        return known

    async def names(self, organization_id: UUID, ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """What pools are called; of one that is not there any more, nothing."""
        wanted = {"organization_id": organization_id, "_id": {"$in": [*ids]}}
        if not wanted["_id"]["$in"]:  # type: ignore[index]
            return {}
        cursor = self._pools.find(wanted, projection=["name"])
        return {each["_id"]: each["name"] async for each in self._database.documents(cursor)}

    async def some(self, organization_id: UUID, ids: Iterable[UUID]) -> Sequence[StoredPool]:
        """Those of these pools that are there."""
        wanted = {"organization_id": organization_id, "_id": {"$in": [*ids]}}
        cursor = self._pools.find(wanted)
        return [_pool(found) async for found in self._database.documents(cursor)]

    async def names_together(self, of: PoolsOfMachine) -> Mapping[UUID, str]:
        """As ``names``, in one query with others who ask at the same time."""
        return await self._together.answer(of) if of[1] else {}

    async def _names_of_each(self, asked: Sequence[PoolsOfMachine]) -> Sequence[Mapping[UUID, str]]:
        ids: dict[UUID, set[UUID]] = {}
        for organization_id, pool_ids in asked:
            ids.setdefault(organization_id, set()).update(pool_ids)
        names = {each: await self.names(each, pool_ids) for each, pool_ids in ids.items()}
        return [names[organization_id] for organization_id, _ in asked]


def _one(organization_id: UUID, pool_id: UUID) -> Document:
    return {"_id": pool_id, "organization_id": organization_id}


def _pool(document: Document) -> StoredPool:
    return StoredPool(id=document["_id"], **fields_of(StoredPool, document))
