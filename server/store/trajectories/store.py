"""Trajectories outside of transactions: inserted, read one by one, listed and exported."""

from collections.abc import AsyncGenerator
from typing import Final
from uuid import UUID

from schemas.resources.trajectories import ExportQuery, TrajectoryQuery
from server.store.mongodb.database import Database
from server.store.mongodb.documents import scoped_id
from server.store.trajectories.documents import StoredTrajectory, stored_trajectory
from server.store.trajectories.listing import TrajectoryListing, exported_trajectories
from server.store.trajectories.parts import PartStore
from server.store.trajectories.writes import new_document

_LAST_UPDATED_FIRST: Final = [("updated_at", -1), ("created_at", -1), ("_id", -1)]


class TrajectoryStore:
    """Every method sees the trajectories of the organization it is given, and no others.

    ``parts`` has the steps that outgrew the documents.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self.parts = PartStore(database)

    async def insert(self, trajectory: StoredTrajectory) -> None:
        """Store a trajectory.

        Raises AlreadyExists where its id is taken, TooLarge above 16 MiB in all.
        """
        async with self._database.operation():
            await self._trajectories.insert_one(new_document(self._database, trajectory))

    async def get(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory | None:
        """The trajectory, or None."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {"_id": scoped_id(organization_id, trajectory_id)}
            )
        return None if found is None else stored_trajectory(found)

    async def latest(self, organization_id: UUID, workflow_id: UUID) -> StoredTrajectory | None:
        """The most recently updated one of the workflow that is generated and has a step."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {
                    "organization_id": organization_id,
                    "workflow_id": workflow_id,
                    "is_generated": True,
                    "step_count": {"$gte": 1},
                },
                sort=_LAST_UPDATED_FIRST,
            )
        return None if found is None else stored_trajectory(found)

    async def list(self, organization_id: UUID, query: TrajectoryQuery) -> TrajectoryListing:
        """One page of what a query finds, newest first."""
        return await TrajectoryListing.open(self._database, organization_id, query)

    def exported(
        self, organization_id: UUID, query: ExportQuery
    ) -> AsyncGenerator[StoredTrajectory, None]:
        """All that a query finds, oldest first."""
        return exported_trajectories(self._database, organization_id, query)
