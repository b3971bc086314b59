"""Workflows, each of one organization."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from schemas.resources.workflows import ChangedWorkflow, NewWorkflow
from schemas.values.json_encoding import encode_json
from schemas.values.times import format_time
from server.store.errors import InUse, NotFound
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id, scoped_id
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now
from server.store.versions import Versions, check_version, first_version


@dataclass(frozen=True)
class StoredWorkflow:
    """A workflow as it is kept."""

    id: UUID
    organization_id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime
    version: int


def new_workflow(
    organization_id: UUID, new: NewWorkflow, workflow_id: UUID | None = None
) -> StoredWorkflow:
    """The workflow that is made now from what was given."""
    time = now()
    return StoredWorkflow(
        id=workflow_id or uuid4(),
        organization_id=organization_id,
        name=new.name,
        description=new.description,
        created_at=time,
        updated_at=time,
        version=first_version(time),
    )


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
        self._trajectories = database.collection("trajectories")

    async def create(
        self, organization_id: UUID, new: NewWorkflow, *, workflow_id: UUID | None = None
    ) -> StoredWorkflow:
        """Keep a new workflow.  Raises AlreadyExists where the given id is taken."""
        workflow = new_workflow(organization_id, new, workflow_id)
        async with self._database.operation():
            await self.insert(workflow)
        return workflow

    async def insert(self, workflow: StoredWorkflow, session: Session | None = None) -> None:
        """Keep a workflow that is not there yet."""
        document = {"_id": scoped_id(workflow.organization_id, workflow.id), **vars(workflow)}
        del document["id"]
        await self._workflows.insert_one(document, session=session)

    async def change(
        self,
        organization_id: UUID,
        workflow_id: UUID,
        change: ChangedWorkflow,
        versions: Versions = None,
    ) -> StoredWorkflow:
        """Change what is named, and nothing else; the workflow as it is then.

        Raises NotFound or VersionMismatch.
        """

        async def work(session: Session) -> StoredWorkflow:
            before = await self._found(session, organization_id, workflow_id, versions)
            fields = {name: getattr(change, name) for name in change.model_fields_set}
            fields["updated_at"] = max(now(), before["updated_at"])
            after = await self._workflows.find_one_and_update(
                {"_id": before["_id"]},
                {"$set": fields, "$inc": {"version": 1}},
                return_document=ReturnDocument.AFTER,
                session=session,
            )
            return _workflow(after)

        return await in_transaction(self._database, work)

    async def delete(
        self, organization_id: UUID, workflow_id: UUID, versions: Versions = None
    ) -> None:
        """Delete a workflow.

        Raises NotFound, VersionMismatch, or InUse while trajectories refer to it.  One that is
        created at the same moment is no worse than any other that names a workflow which was
        never made.
        """

        async def work(session: Session) -> None:
            before = await self._found(session, organization_id, workflow_id, versions)
            referring = {"organization_id": organization_id, "workflow_id": workflow_id}
            if await self._trajectories.find_one(referring, {"_id": True}, session=session):
                raise InUse("Trajectories refer to this workflow.")
            await self._workflows.delete_one({"_id": before["_id"]}, session=session)

        await in_transaction(self._database, work)

    async def _found(
        self, session: Session, organization_id: UUID, workflow_id: UUID, versions: Versions
    ) -> Document:
        found = await self._workflows.find_one(
            {"_id": scoped_id(organization_id, workflow_id)}, session=session
        )
        if found is None:
            raise NotFound("There is no such workflow.")
        check_version(found, versions)
        return found

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
        # Older than versions are: the first change makes it 1.
        version=document.get("version", 0),
    )
