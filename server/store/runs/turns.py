"""Whose turn it is: one node works at a run, and one run at a machine.

A lease is the node's word that it works at a run; where none came for some seconds, another goes
on.  Its times are MongoDB's, which all nodes share.  Every write is of the lease's holder alone, so
that a node that was stopped for a while can write nothing into what another has gone on with; and
each but the lease's own is of the run as it was read, so that a write which MongoDB carries out
late, after its node had given it up, changes nothing any more.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from pymongo import ReturnDocument

from schemas.runs.runs import Halted, StepResult
from server.errors import AlreadyExists
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs.documents import StoredAttempt, StoredRun, stored_run

LEASE_SECONDS: Final = 10.0
"""From when it was renewed last."""

# Each is asked for every second: said as the partial indexes say it, so that they answer.
ABANDONED: Final[Document] = {
    "status": {"$in": ["running", "running_checks"]},
    "lease.until": {"$type": "date"},
    "$expr": {"$lte": ["$lease.until", "$$NOW"]},
}
RESERVING: Final[Document] = {"reserves": {"$type": "string"}}

_END: Final[Document] = {"$add": ["$$NOW", int(LEASE_SECONDS * 1000)]}
_NEXT: Final[Document] = {"$add": ["$revision", 1]}
_WAITS_FOR: Final = ("organization_id", "machine_id", "pool_ids")
_IN_TURN: Final = [("priority", -1), ("created_at", 1), ("_id", 1)]


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run that waits for its turn on a machine, or on any of some pools."""

    id: UUID
    organization_id: UUID
    machine_id: str | None
    pool_ids: list[UUID] | None


class RunTurns:
    """Claims runs for one node, ``owner``, and writes what becomes of them."""

    def __init__(self, database: Database, owner: UUID) -> None:
        self._database = database
        self._runs = database.collection("runs")
        self.owner = owner

    async def abandoned(self, besides: Collection[UUID] = ()) -> StoredRun | None:
        """One that runs and that nobody works at, which is this node's from now on.

        None of those that this node is still ``besides``: two of it would write as one owner.
        """
        return await self._claimed({**ABANDONED, "_id": {"$nin": [*besides]}}, {})

    async def busy(self, organization_ids: Collection[UUID]) -> list[tuple[UUID, str]]:
        """The machines of these organizations that runs have reserved."""
        cursor = self._runs.find(
            {"organization_id": {"$in": [*organization_ids]}, **RESERVING},
            {"organization_id": True, "reserves": True},
        )
        return [
            (found["organization_id"], found["reserves"])
            async for found in self._database.documents(cursor)
        ]

    async def waiting(self) -> list[WaitingRun]:
        """The first of those that wait for the same machine, or any of the same pools, in order.

        So those that wait for machines which are away keep nobody else from their turn.
        """
        order = dict(_IN_TURN)
        first = {name: {"$first": f"${name}"} for name in ("priority", "created_at")}
        pipeline: list[Document] = [
            {"$match": {"wants_turn": True}},
            {"$sort": order},
            {
                "$group": {
                    "_id": {name: f"${name}" for name in _WAITS_FOR},
                    "run_id": {"$first": "$_id"},
                    **first,
                }
            },
            {"$sort": {"priority": -1, "created_at": 1, "run_id": 1}},
        ]
        async with self._database.operation():
            found = await self._runs.aggregate(pipeline).to_list(None)
        return [WaitingRun(each["run_id"], **each["_id"]) for each in found]

    async def begin(self, run: WaitingRun, machine_id: str) -> StoredRun | None:
        """Give a waiting run its turn on a machine; None where either was given to another."""
        begun = {
            "status": "running",
            "machine_id": machine_id,
            "reserves": machine_id,
            "wants_turn": False,
            "started_at": {"$ifNull": ["$started_at", "$$NOW"]},
        }
        # In a pipeline, as its times are MongoDB's; a machine's id begins with no dollar.
        try:
            return await self._claimed({"_id": run.id, "wants_turn": True}, begun)
        except AlreadyExists:
            return None

    async def renew(self, run: StoredRun) -> StoredRun | None:
        """Keep a run for some seconds more; None where it is another node's by now."""
        return await self._kept(run, {"$set": {"lease.until": _END}})

    async def release(self, run: StoredRun) -> None:
        """Let another node go on at once."""
        await self._kept(run, {"$set": {"lease.until": "$$NOW"}})

    async def park(self, run: StoredRun) -> StoredRun | None:
        """Let a halted run keep no machine and no node; None where it has something to do."""
        still = {"halted": {"$ne": None}, "wanted": None}
        return await self._update(run, {"$set": {"lease": None}, "$unset": {"reserves": ""}}, still)

    async def write(self, run: StoredRun, **changes: Any) -> StoredRun | None:
        """Set these fields; the run then, or None where it is another node's or another by now."""
        return await self._update(run, {"$set": changes})

    async def halt(self, run: StoredRun, halted: Halted) -> StoredRun | None:
        """Note why a run does not go on."""
        candidates = [each.model_dump() for each in halted.candidates]
        document = {**dict(halted), "candidates": candidates}
        return await self.write(run, halted=document, halts=run.halts + 1, status="running")

    async def attempt(self, run: StoredRun, attempt: StoredAttempt) -> StoredRun | None:
        """Note that a step's input is about to be sent."""
        return await self.write(run, attempt=asdict(attempt), tries=attempt.number)

    async def past(self, run: StoredRun, result: StepResult) -> StoredRun | None:
        """Note what became of a step, and go to the next; None as well where it was noted before.

        So it is where the answer to the first time was lost.
        """
        return await self._update(
            run,
            {
                "$set": {
                    "step": result.number + 1,
                    "attempt": None,
                    "tries": 0,
                    "status": "running",
                },
                "$push": {"steps": dict(result)},
            },
            {"step": result.number},
        )

    async def _claimed(self, wanted: Document, changes: Document) -> StoredRun | None:
        lease = {"owner": self.owner, "until": _END}
        async with self._database.operation():
            found = await self._runs.find_one_and_update(
                wanted,
                [{"$set": {"lease": lease, "revision": _NEXT, **changes}}],
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else stored_run(found)

    async def _update(
        self, run: StoredRun, change: Document, condition: Document | None = None
    ) -> StoredRun | None:
        """Change a run that is still as it was read."""
        as_read = {"lease.owner": self.owner, "revision": run.revision, **(condition or {})}
        return await self._changed(run, as_read, {**change, "$inc": {"revision": 1}})

    async def _kept(self, run: StoredRun, lease: Document) -> StoredRun | None:
        """Change the lease of a run, whatever else has become of it."""
        return await self._changed(run, {"lease.owner": self.owner}, [lease])

    async def _changed(self, run: StoredRun, condition: Document, change: Any) -> StoredRun | None:
        async with self._database.operation():
            found = await self._runs.find_one_and_update(
                {"_id": run.id, **condition}, change, return_document=ReturnDocument.AFTER
            )
        return None if found is None else stored_run(found)
