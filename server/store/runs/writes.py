"""Runs inside a transaction: begun, let go on, and ended together with what webhooks are told.

Raises the driver's own errors, which say whether to try the transaction again.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from pymongo import ReturnDocument

from schemas.runs.runs import ENDED, MOST_WAITING, MOST_WAITING_OF_MACHINE
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from server.store.runs.documents import StoredRepairs, StoredRun, run_document, stored_run
from server.store.webhooks.outbox import Outbox, StoredDelivery


class RunWrites:
    """The runs as one transaction writes them."""

    def __init__(self, database: Database, session: Session) -> None:
        self._session = session
        self._runs = database.collection("runs")

    async def insert(self, runs: Sequence[StoredRun]) -> list[str | None]:
        """Store new ones of one organization, in order, as far as they may wait.

        Of each why it was not stored, as a sentence; None where it was.
        """
        waiting = {"organization_id": runs[0].organization_id, "status": "scheduling"}
        count = await self._runs.count_documents(waiting, limit=MOST_WAITING, session=self._session)
        on = await self._waiting_on({run.machine_id for run in runs} - {None}, waiting)
        stored, refusals = [], []
        for run in runs:
            refusal = _refusal(count, run.machine_id, on)
            refusals.append(refusal)
            if refusal is None:
                stored.append(run_document(run))
                count += 1
                on[run.machine_id] += 1
        if stored:
            await self._runs.insert_many(stored, session=self._session)
        return refusals

    async def end(
        self,
        run_id: UUID,
        owner: UUID | None,
        changes: Document,
        outbox: Outbox,
        deliveries: Sequence[StoredDelivery],
    ) -> bool:
        """End a run that this owner works at, with what webhooks are told; False where it does not.

        Without an owner it is one that nobody works at, and that keeps no machine.  Its secrets are
        erased.
        """
        condition: Document = {"_id": run_id, "status": {"$nin": [*ENDED]}}
        if owner is None:
            condition |= {"lease": None, "reserves": {"$exists": False}}
        else:
            condition["lease.owner"] = owner
        result = await self._runs.update_one(
            condition,
            {"$set": changes, "$unset": {"reserves": "", "sealed": ""}},
            session=self._session,
        )
        if result.matched_count:
            await outbox.insert_in(self._session, deliveries)
        return result.matched_count == 1

    async def resume(
        self, run: StoredRun, changes: Document, repaired: StoredRepairs | None = None
    ) -> StoredRun | None:
        """Let a halted run go on, as repaired; None where somebody else was faster.

        One that keeps neither a node nor a machine any more waits for its turn again.
        """
        if repaired is not None:
            changes = {**changes, **repaired.document()}
        assert run.halted is not None  # noqa: S101  its caller has looked
        halted = {
            "_id": run.id,
            "wanted": None,
            "halted.step": run.halted.step,
            "halted.at": run.halted.at,
        }
        for lease, wants_turn in (({"$ne": None}, False), (None, True)):
            found = await self._runs.find_one_and_update(
                {**halted, "lease": lease},
                # What its node wrote of the halt, and comes late, is of a run that was before.
                {
                    "$set": {"halted": None, "wants_turn": wants_turn, **changes},
                    "$inc": {"revision": 1},
                },
                return_document=ReturnDocument.AFTER,
                session=self._session,
            )
            if found is not None:
                return stored_run(found)
        return None

    async def _waiting_on(
        self, machine_ids: Collection[str | None], waiting: Document
    ) -> Counter[str | None]:
        """How many runs wait for each of these machines."""
        counted = self._runs.aggregate(
            [
                {"$match": {**waiting, "machine_id": {"$in": [*machine_ids]}}},
                {"$group": {"_id": "$machine_id", "count": {"$sum": 1}}},
            ],
            session=self._session,
        )
        return Counter({each["_id"]: each["count"] async for each in counted})


def _refusal(count: int, machine_id: str | None, on: Mapping[str | None, int]) -> str | None:
    """Why no further run may wait, for this machine; None where it may."""
    if count >= MOST_WAITING:
        return (
            f"{MOST_WAITING:,} runs of the organization wait for their turn, and no more may: "
            "wait, or cancel some"
        )
    if machine_id is not None and on[machine_id] >= MOST_WAITING_OF_MACHINE:
        return (
            f"{MOST_WAITING_OF_MACHINE:,} runs wait for machine {machine_id!r}, and no "
            "more may: wait, or cancel some"
        )
    return None
