"""Organizations, the tenants."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from server.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now

DEFAULT_NAME: Final = "default"


@dataclass(frozen=True)
class Organization:
    """A tenant: everything stored belongs to one.

    ``parent_id`` is the organization whose token made it; the default one has none.
    """

    id: UUID
    name: str
    created_at: datetime
    parent_id: UUID | None


class OrganizationStore:
    """Makes and finds organizations."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._organizations = database.collection("organizations")

    async def create(self, name: str, *, parent_id: UUID | None) -> Organization:
        """Store a new organization; names need not differ."""
        organization = Organization(uuid4(), name, now(), parent_id)
        document = vars(organization).copy()
        document["_id"] = document.pop("id")
        async with self._database.operation():
            await self._organizations.insert_one(document)
        return organization

    async def get(self, organization_id: UUID) -> Organization | None:
        """The organization, or None."""
        async with self._database.operation():
            found = await self._organizations.find_one({"_id": organization_id})
        return None if found is None else _organization(found)

    async def list_made_from(
        self, organization_id: UUID, page: PageQuery
    ) -> tuple[list[Organization], int]:
        """One page of an organization and those made from it, newest first, and their number."""
        wanted = {"$or": [{"_id": organization_id}, {"parent_id": organization_id}]}
        async with self._database.operation():
            total = await self._organizations.count_documents(wanted)
        cursor = self._organizations.find(
            wanted, sort=[("created_at", -1), ("_id", -1)], skip=page.skip, limit=page.limit
        )
        items = [_organization(document) async for document in self._database.documents(cursor)]
        return items, total

    async def ensure_default(self) -> tuple[Organization, bool]:
        """The organization that every installation has, and whether this call made it.

        Of several nodes that start at once exactly one is told that it did.
        """
        # The loser of a race hits the unique index; then the winner's is there to be found.
        for _ in range(2):
            try:
                return await self._find_or_make_default()
            except AlreadyExists:
                continue
        raise StoreUnavailable("The default organization could not be read back.")

    async def _find_or_make_default(self) -> tuple[Organization, bool]:
        made = Organization(uuid4(), DEFAULT_NAME, now(), None)
        async with self._database.operation():
            found = await self._organizations.find_one_and_update(
                {"is_default": True},
                {
                    "$setOnInsert": {
                        "_id": made.id,
                        "name": made.name,
                        "created_at": made.created_at,
                    }
                },
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
        organization = _organization(found)
        # A retried write answers as the first try did, so the id tells who made it.
        return organization, organization.id == made.id


def _organization(document: Document) -> Organization:
    return Organization(
        document["_id"], document["name"], document["created_at"], document.get("parent_id")
    )
