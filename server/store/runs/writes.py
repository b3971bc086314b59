"""Runs inside a transaction: begun, and ended together with what webhooks are told.

Raises the driver's own errors, which say whether to try the transaction again.
"""

from collections.abc import Sequence
from uuid import UUID

from schemas.runs.runs import ENDED, MOST_WAITING, MOST_WAITING_OF_MACHINE
from server.errors import WrongState
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from server.store.runs.documents import StoredRun, run_document
from server.store.webhooks.outbox import Outbox, StoredDelivery


class RunWrites:
    """The runs as one transaction writes them."""

    def __init__(self, database: Database, session: Session) -> None:
        self._session = session
        self._runs = database.collection("runs")
        self._sealed = database.collection("sealed_secrets")

    async def insert(self, runs: Sequence[StoredRun]) -> None:
        """Store new ones of one organization.  Raises WrongState where too many wait already."""
        waiting = {"organization_id": runs[0].organization_id, "status": "scheduling"}
        if await self._count(waiting, MOST_WAITING) + len(runs) > MOST_WAITING:
            raise WrongState(
                f"{MOST_WAITING:,} runs of the organization wait for their turn, and no more may: "
                "wait, or cancel some"
            )
        for machine_id in {run.machine_id for run in runs if run.machine_id is not None}:
            own = {**waiting, "machine_id": machine_id}
            new = sum(run.machine_id == machine_id for run in runs)
            if await self._count(own, MOST_WAITING_OF_MACHINE) + new > MOST_WAITING_OF_MACHINE:
                raise WrongState(
                    f"{MOST_WAITING_OF_MACHINE:,} runs wait for machine {machine_id!r}, and no "
                    "more may: wait, or cancel some"
                )
        await self._runs.insert_many(map(run_document, runs), session=self._session)

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
            {"$set": changes, "$unset": {"reserves": ""}},
            session=self._session,
        )
        if result.matched_count:
            await self._sealed.delete_one({"_id": run_id}, session=self._session)
            await outbox.insert_in(self._session, deliveries)
        return result.matched_count == 1

    async def _count(self, wanted: Document, most: int) -> int:
        return await self._runs.count_documents(wanted, limit=most, session=self._session)
