"""Runs outside of transactions: read, listed, and asked to end."""

import builtins
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from pymongo import ReturnDocument

from schemas.runs.requests import RunListQuery
from schemas.runs.runs import ENDED
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs.documents import StoredRun, stored_run

PAGE: Final = 500
"""Of the runs that nobody works at, as they are looked through."""

# Said as the partial index says it, so that it answers.
UNATTENDED: Final[Document] = {"lease": {"$type": "null"}, "ended_at": {"$type": "null"}}
OLDEST_FIRST: Final = [("created_at", 1)]

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]
_HEAD: Final = {"steps": False, "repairs.steps": False}
_OF_UNATTENDED: Final = dict.fromkeys(
    ("organization_id", "machine_id", "token_id", "by", "halted.help_id"), True
)


@dataclass(frozen=True, slots=True)
class UnattendedRun:
    """A run that no node works at: it waits for its turn, or is halted for long.

    ``help_id`` is what it has asked people, if it is halted.
    """

    id: UUID
    organization_id: UUID
    machine_id: str | None
    token_id: UUID
    by: str
    help_id: UUID | None


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

    async def unattended(self) -> AsyncIterator[Sequence[UnattendedRun]]:
        """All organizations' runs that no node works at, oldest first, some at a time."""
        cursor = self._runs.find(UNATTENDED, _OF_UNATTENDED, sort=OLDEST_FIRST, batch_size=PAGE)
        some: builtins.list[UnattendedRun] = []
        async for each in self._database.documents(cursor):
            some.append(_unattended(each))
            if len(some) == PAGE:
                yield some
                some = []
        if some:
            yield some

    async def get_unattended(self, organization_id: UUID, run_id: UUID) -> StoredRun | None:
        """The run, if it has not ended and no node works at it."""
        wanted = {"_id": run_id, "organization_id": organization_id, **UNATTENDED}
        async with self._database.operation():
            found = await self._runs.find_one(wanted)
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


def _unattended(document: Document) -> UnattendedRun:
    # Of one that is not halted nothing of it is read.
    halted = document.get("halted") or {}
    return UnattendedRun(
        id=document["_id"],
        organization_id=document["organization_id"],
        machine_id=document["machine_id"],
        token_id=document["token_id"],
        by=document["by"],
        help_id=halted.get("help_id"),
    )
