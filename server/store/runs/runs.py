"""Runs outside of transactions: read, listed, and asked to end."""

import builtins
from collections.abc import Collection
from typing import Final
from uuid import UUID

from pymongo import ReturnDocument

from schemas.runs.requests import RunListQuery
from schemas.runs.runs import ENDED
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs.documents import StoredRun, stored_run

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]
_HEAD: Final = {"steps": False, "repairs.steps": False}


class RunStore:
    """Every method sees the runs of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs = database.collection("runs")

    async def get(self, organization_id: UUID, run_id: UUID) -> StoredRun | None:
        """The run with its steps, or None."""
        async with self._database.operation():
            found = await self._runs.find_one({"_id": run_id, "organization_id": organization_id})
        return None if found is None else stored_run(found)

    async def parked(self, organization_id: UUID, run_id: UUID) -> StoredRun | None:
        """The run, if it is halted and keeps no node any more."""
        wanted = {"_id": run_id, "organization_id": organization_id}
        async with self._database.operation():
            found = await self._runs.find_one({**wanted, "halted": {"$ne": None}, "lease": None})
        return None if found is None else stored_run(found)

    async def list(
        self,
        organization_id: UUID,
        query: RunListQuery,
        machine_ids: Collection[str] | None,
        pool_ids: Collection[UUID] = (),
    ) -> tuple[builtins.list[StoredRun], int]:
        """One page without their steps, newest first, and how many there are.

        On these machines, or waiting for one of these pools, where machines are given.
        """
        wanted: Document = {"organization_id": organization_id}
        for name in ("status", "machine_id", "workflow_id"):
            if (value := getattr(query, name)) is not None:
                wanted[name] = value
        if machine_ids is not None:
            waiting = {"machine_id": None, "pool_ids": {"$in": [*pool_ids]}}
            wanted["$or"] = [{"machine_id": {"$in": sorted(machine_ids)}}, waiting]
        cursor = self._runs.find(
            wanted, _HEAD, sort=_NEWEST_FIRST, skip=query.skip, limit=query.limit
        )
        found = [stored_run(each) async for each in self._database.documents(cursor)]
        async with self._database.operation():
            return found, await self._runs.count_documents(wanted)

    async def want(self, run: StoredRun, wanted: str) -> StoredRun | None:
        """Note what its node is to do; None where the run has ended, or is to be cancelled."""
        open_ = {"status": {"$nin": [*ENDED]}, "wanted": {"$ne": "cancel"}}
        async with self._database.operation():
            found = await self._runs.find_one_and_update(
                {"_id": run.id, **open_},
                {"$set": {"wanted": wanted}},
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else stored_run(found)
