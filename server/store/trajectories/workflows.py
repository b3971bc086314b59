"""Workflows, each of one organization."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from server.errors import NotFound
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of, own_id, scoped_id
from server.store.mongodb.transactions import Session
from server.store.versions import Versions, check_version

LIST_BATCH: Final = 100
"""Workflows of a list that are in memory at once: a description may have 60 kB."""


@dataclass(frozen=True)
class StoredWorkflow:
    """A workflow as it is stored."""

    id: UUID
    organization_id: UUID
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime
    version: int
    input_schema: Document | None = None


class WorkflowStore:
    """Every method sees the workflows of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._workflows = database.collection("workflows")

    async def get(self, organization_id: UUID, workflow_id: UUID) -> StoredWorkflow | None:
        """The workflow, or None."""
        async with self._database.operation():
            found = await self._workflows.find_one({"_id": scoped_id(organization_id, workflow_id)})
        return None if found is None else _workflow(found)

    async def get_many(
        self, organization_id: UUID, workflow_ids: Iterable[UUID]
    ) -> list[StoredWorkflow]:
        """The workflows that exist of these, in the order of the ids, in one query."""
        wanted = [scoped_id(organization_id, workflow_id) for workflow_id in workflow_ids]
        cursor = self._workflows.find({"_id": {"$in": wanted}})
        found = {
            document["_id"]: _workflow(document)
            async for document in self._database.documents(cursor)
        }
        return [found[scoped] for scoped in wanted if scoped in found]

    async def count(self, organization_id: UUID) -> int:
        """How many workflows there are."""
        async with self._database.operation():
            return await self._workflows.count_documents({"organization_id": organization_id})

    async def page(
        self, organization_id: UUID, page: PageQuery
    ) -> AsyncGenerator[StoredWorkflow, None]:
        """One page of the workflows, newest first, as they are read."""
        cursor = self._workflows.find(
            {"organization_id": organization_id},
            sort=[("created_at", -1), ("_id", -1)],
            skip=page.skip,
            limit=page.limit,
            batch_size=LIST_BATCH,
        )
        async for document in self._database.documents(cursor):
            yield _workflow(document)


class WorkflowWrites:
    """The workflows as one transaction reads and writes them; raises the driver's own errors."""

    def __init__(self, database: Database, session: Session) -> None:
        self._session = session
        self._workflows = database.collection("workflows")

    async def insert(self, workflow: StoredWorkflow) -> None:
        """Store a workflow that is not there yet."""
        document = {"_id": _id_of(workflow), **vars(workflow)}
        del document["id"]
        await self._workflows.insert_one(document, session=self._session)

    async def get(
        self, organization_id: UUID, workflow_id: UUID, versions: Versions
    ) -> StoredWorkflow:
        """The workflow, to be written.  Raises NotFound or VersionMismatch."""
        found = await self._workflows.find_one(
            {"_id": scoped_id(organization_id, workflow_id)}, session=self._session
        )
        if found is None:
            raise NotFound("There is no such workflow.")
        check_version(found, versions)
        return _workflow(found)

    async def change(self, workflow: StoredWorkflow, fields: Mapping[str, Any]) -> StoredWorkflow:
        """Write these fields; the workflow as it is then."""
        after = await self._workflows.find_one_and_update(
            {"_id": _id_of(workflow)},
            {"$set": fields, "$inc": {"version": 1}},
            return_document=ReturnDocument.AFTER,
            session=self._session,
        )
        return _workflow(after)

    async def delete(self, workflow: StoredWorkflow) -> None:
        """Delete it."""
        await self._workflows.delete_one({"_id": _id_of(workflow)}, session=self._session)


def _id_of(workflow: StoredWorkflow) -> bytes:
    return scoped_id(workflow.organization_id, workflow.id)


def _workflow(document: Document) -> StoredWorkflow:
    return StoredWorkflow(id=own_id(document["_id"]), **fields_of(StoredWorkflow, document))
