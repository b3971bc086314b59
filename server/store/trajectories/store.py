"""Trajectories outside of transactions: inserted, read one by one, listed and exported."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

from pymongo.errors import BulkWriteError

from schemas.resources.trajectories import ExportQuery, TrajectoryQuery
from server.errors import NotFound, StoreError, TooLarge
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.mongodb.error_translation import refused_writes
from server.store.trajectories.documents import StoredTrajectory, stored_trajectory
from server.store.trajectories.keeping import pictures_in, with_pictures
from server.store.trajectories.listing import TrajectoryListing, exported_trajectories, of_machines
from server.store.trajectories.marks import until_few_wait
from server.store.trajectories.parts import PartStore
from server.store.trajectories.picture_uses import PictureUses
from server.store.trajectories.writes import main_of, mains, new_document

_BLOCKING_DOCUMENTS: Final = 16
"""So many are made in about a millisecond, and then it is somebody else's turn."""

_LAST_UPDATED_FIRST: Final = [("updated_at", -1), ("created_at", -1), ("_id", -1)]


class TrajectoryStore:
    """Every method sees the trajectories of the organization it is given, and no others.

    ``parts`` has the steps that outgrew the documents.  Where ``within`` is given, what
    was recorded on another machine than these is left out; what was recorded on none is not.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self.parts = PartStore(database)

    async def insert(self, trajectory: StoredTrajectory) -> None:
        """Store a trajectory.

        Raises AlreadyExists where its id is taken, TooLarge above 16 MiB in all.
        """
        document = new_document(self._database, trajectory)
        await self._use_pictures([trajectory])
        async with self._database.operation():
            await self._trajectories.insert_one(document)

    def with_pictures(self, trajectory: StoredTrajectory) -> StoredTrajectory:
        """A new trajectory that knows until when its pictures are kept."""
        return with_pictures(trajectory, self._database.picture_lifetime)

    async def _use_pictures(self, trajectories: Iterable[StoredTrajectory]) -> None:
        """Have the pictures of new trajectories kept for them, before these are there."""
        uses = PictureUses(self._database)
        for each in trajectories:
            if pictures := pictures_in(each.inline_steps):
                async with self._database.operation():
                    await uses.add(each.organization_id, each.id, pictures)

    async def mains(self, organization_id: UUID, workflow_ids: Iterable[UUID]) -> set[UUID]:
        """Those of these workflows that have a main trajectory."""
        async with self._database.operation():
            return await mains(self._trajectories, organization_id, workflow_ids)

    async def insert_many(self, trajectories: Sequence[StoredTrajectory]) -> dict[UUID, StoreError]:
        """Store trajectories, no two with one id; of those that could not be, why.

        That is AlreadyExists, TooLarge, or what else the database says of one.  Each is stored or
        not, whatever becomes of the others: no transaction holds all of them, as that of a server
        that is killed would keep their ids for a minute.
        """
        refused: dict[UUID, StoreError] = {}
        ids, documents = [], []
        for number, each in enumerate(trajectories):
            try:
                documents.append(new_document(self._database, each))
                ids.append(each.id)
            except TooLarge as error:
                refused[each.id] = error
            if number % _BLOCKING_DOCUMENTS == 0:
                await asyncio.sleep(0)
        if documents:
            await self._use_pictures(each for each in trajectories if each.id not in refused)
            await until_few_wait(self._database)
            reasons = await self._insert_all(documents)
            refused |= {ids[number]: reason for number, reason in reasons.items()}
        return refused

    async def _insert_all(self, documents: list[Document]) -> dict[int, StoreError]:
        """Insert documents; by its place, why one could not be."""
        async with self._database.operation():
            try:
                await self._trajectories.insert_many(documents, ordered=False)
            except BulkWriteError as error:
                return refused_writes(error)
        return {}

    async def get(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory | None:
        """The trajectory, or None."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {"_id": scoped_id(organization_id, trajectory_id)}
            )
        return None if found is None else stored_trajectory(found)

    async def main(self, organization_id: UUID, workflow_id: UUID) -> StoredTrajectory | None:
        """The main trajectory of a workflow, or None."""
        async with self._database.operation():
            found = await self._trajectories.find_one(main_of(organization_id, [workflow_id]))
        return None if found is None else stored_trajectory(found)

    async def machine_of(self, organization_id: UUID, trajectory_id: UUID) -> str | None:
        """The machine that a trajectory was recorded on, or None.  Raises NotFound."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {"_id": scoped_id(organization_id, trajectory_id)}, {"machine_id": True}
            )
        if found is None:
            raise NotFound("There is no such trajectory.")
        machine_id: str | None = found.get("machine_id")
        return machine_id

    async def get_many(
        self, organization_id: UUID, trajectory_ids: Iterable[UUID]
    ) -> AsyncGenerator[StoredTrajectory, None]:
        """Those of these that are there, in any order."""
        ids = [scoped_id(organization_id, each) for each in trajectory_ids]
        cursor = self._trajectories.find({"_id": {"$in": ids}})
        async for found in self._database.documents(cursor):
            yield stored_trajectory(found)

    async def latest(
        self, organization_id: UUID, workflow_id: UUID, within: Collection[str] | None = None
    ) -> StoredTrajectory | None:
        """The most recently updated one of the workflow that is generated and has a step."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {
                    "organization_id": organization_id,
                    "workflow_id": workflow_id,
                    "is_generated": True,
                    "step_count": {"$gte": 1},
                    **of_machines(within),
                },
                sort=_LAST_UPDATED_FIRST,
            )
        return None if found is None else stored_trajectory(found)

    async def list(
        self, organization_id: UUID, query: TrajectoryQuery, within: Collection[str] | None = None
    ) -> TrajectoryListing:
        """One page of what a query finds, in the order that it names."""
        return await TrajectoryListing.open(self._database, organization_id, query, within)

    def exported(
        self, organization_id: UUID, query: ExportQuery, within: Collection[str] | None = None
    ) -> AsyncGenerator[StoredTrajectory, None]:
        """All that a query finds, oldest first."""
        return exported_trajectories(self._database, organization_id, query, within)
