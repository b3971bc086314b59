"""Workflows, each of one organization."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from schemas.json_texts import encode_json
from schemas.queries import PageQuery
from schemas.times import format_time
from schemas.workflows import NewWorkflow
from server.store.database import Database, Document, now, own_id, scoped_id


@dataclass(frozen=True)
class StoredWorkflow:
    """A workflow as it is kept."""

    id: UUID
    organization_id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime


def render_included_workflow(workflow: StoredWorkflow) -> bytes:
    """The workflow as one IncludedResource, in JSON."""
    return encode_json(
        {
            "type": "workflow",
            "id": str(workflow.id),
            "name": workflow.name,
            "description": workflow.description,
            "created_at": format_time(workflow.created_at),
            "updated_at": format_time(workflow.updated_at),
        }
    )


class WorkflowStore:
    """Every method sees the workflows of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._workflows = database.collection("workflows")

    async def create(
        self, organization_id: UUID, new: NewWorkflow, *, workflow_id: UUID | None = None
    ) -> StoredWorkflow:
        """Keep a new workflow.  Raises AlreadyExists where the given id is taken."""
        time = now()
        workflow = StoredWorkflow(
            workflow_id or uuid4(), organization_id, new.name, new.description, time, time
        )
        async with self._database.operation():
            await self._workflows.insert_one(
                {
                    "_id": scoped_id(organization_id, workflow.id),
                    "organization_id": organization_id,
                    "name": workflow.name,
                    "description": workflow.description,
                    "created_at": time,
                    "updated_at": time,
                }
            )
        return workflow

    async def get(self, organization_id: UUID, workflow_id: UUID) -> StoredWorkflow | None:
        """The workflow, or None."""
        async with self._database.operation():
            found = await self._workflows.find_one({"_id": scoped_id(organization_id, workflow_id)})
        return None if found is None else _workflow(found)

    async def get_many(
        self, organization_id: UUID, workflow_ids: Iterable[UUID]
    ) -> list[StoredWorkflow]:
        """Those of the workflows that exist, in the order of the ids, in one query."""
        wanted = [scoped_id(organization_id, workflow_id) for workflow_id in workflow_ids]
        cursor = self._workflows.find({"_id": {"$in": wanted}})
        found = {
            document["_id"]: _workflow(document)
            async for document in self._database.documents(cursor)
        }
        return [found[scoped] for scoped in wanted if scoped in found]

    async def list(
        self, organization_id: UUID, page: PageQuery
    ) -> tuple[list[StoredWorkflow], int]:
        """One page of the workflows, newest first, and how many there are in all."""
        wanted = {"organization_id": organization_id}
        async with self._database.operation():
            total = await self._workflows.count_documents(wanted)
        cursor = self._workflows.find(
            wanted, sort=[("created_at", -1), ("_id", -1)], skip=page.skip, limit=page.limit
        )
        items = [_workflow(document) async for document in self._database.documents(cursor)]
        return items, total


def _workflow(document: Document) -> StoredWorkflow:
    return StoredWorkflow(
        id=own_id(document["_id"]),
        organization_id=document["organization_id"],
        name=document["name"],
        description=document["description"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
    )
