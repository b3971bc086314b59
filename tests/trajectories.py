"""Trajectories for tests: as they are stored, sent and imported."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import bson

from schemas.resources.trajectories import ChangedTrajectory, ImportedTrajectory, NewTrajectory
from schemas.resources.workflows import NewWorkflow
from schemas.steps.reviews import Editor
from server.store.mongodb.database import Database
from server.store.mongodb.documents import CODEC_OPTIONS, QUICK_CODEC_OPTIONS
from server.store.trajectories.documents import (
    ListedTrajectory,
    StoredTrajectory,
    document_of,
    listed_trajectory,
)
from server.store.trajectories.listing import TrajectoryListing
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import StoredWorkflow, WorkflowStore
from server.store.transactions import Transactions
from server.trajectories.creation import new_trajectory, new_workflow
from server.trajectories.trajectories import Trajectories
from tests.store import ORGANIZATION, there

WORKFLOW = UUID("00000000-0000-4000-8000-00000000000c")
EDITOR = Editor(token_id=UUID(int=3), token_name="somebody", user_id=None)
NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)


def stored(**fields: Any) -> StoredTrajectory:
    """A trajectory as it is stored, with one step unless told otherwise."""
    given: dict[str, Any] = {
        "id": UUID(int=7),
        "organization_id": ORGANIZATION,
        "user_id": None,
        "workflow_id": WORKFLOW,
        "run_id": None,
        "name": None,
        "description": None,
        "is_approved": False,
        "is_generated": True,
        "step_count": 1,
        "trajectory_data": b'[{"n":1}]',
        "dimensions": b'{"width":1,"height":2}',
        "original_input_values": b"{}",
        "created_at": NOW,
        "updated_at": NOW,
        "version": 1,
        **fields,
    }
    return StoredTrajectory(**given)


def as_listed(trajectory: StoredTrajectory) -> ListedTrajectory:
    """The same as a list reads it."""
    document = document_of(trajectory, {})
    del document["organization_id"]
    kept = bson.encode(document, codec_options=CODEC_OPTIONS)
    quick = bson.decode(kept, codec_options=QUICK_CODEC_OPTIONS)
    return listed_trajectory(trajectory.organization_id, quick)


async def listed(listing: TrajectoryListing) -> list[ListedTrajectory]:
    """All trajectories of a page."""
    return [one async for batch in listing.batches() for one in batch]


def sent(**fields: Any) -> dict[str, Any]:
    """The body of a request that creates one."""
    return {
        "workflow_id": str(WORKFLOW),
        "dimensions": {"width": 1280, "height": 800},
        "trajectory_data": [{"action": "click", "x": 1}],
        **fields,
    }


def imported(**fields: Any) -> ImportedTrajectory:
    """The same as a request is understood."""
    return ImportedTrajectory.model_validate_json(json.dumps(sent(**fields)))


class TrajectoryLibrary:
    """The trajectories of one database, made and changed by the server's rules, told as stored."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.store = TrajectoryStore(database)
        self.workflows = WorkflowStore(database)
        self.transactions = Transactions(database, key_lifetime=timedelta(hours=24))
        self.trajectories = Trajectories(self.store, self.workflows, self.transactions)

    async def create(
        self, organization_id: UUID, user_id: UUID | None, new: NewTrajectory
    ) -> StoredTrajectory:
        """A new trajectory."""
        by = EDITOR.model_copy(update={"user_id": user_id})
        made = self.store.with_pictures(new_trajectory(organization_id, by, new))
        await self.store.insert(made)
        return made

    async def create_workflow(self, organization_id: UUID, name: str) -> StoredWorkflow:
        """A new workflow."""
        made = new_workflow(organization_id, NewWorkflow(name=name))
        await self.transactions.run(lambda transaction: transaction.workflows.insert(made))
        return made

    async def get(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory | None:
        """The trajectory, or None."""
        return await self.store.get(organization_id, trajectory_id)

    async def change(
        self, organization_id: UUID, trajectory_id: UUID, change: ChangedTrajectory
    ) -> StoredTrajectory:
        """The trajectory as it is then."""
        await self.trajectories.change(organization_id, EDITOR, trajectory_id, change)
        return there(await self.get(organization_id, trajectory_id))

    async def delete(self, organization_id: UUID, trajectory_id: UUID) -> None:
        """Delete it."""
        await self.trajectories.delete(organization_id, trajectory_id)


def numbered(number: int) -> str:
    """An id as texts have it."""
    return str(UUID(int=number))


def change(**fields: Any) -> ChangedTrajectory:
    """What a request changes."""
    return ChangedTrajectory.model_validate(fields)
