"""Webhooks, with the secrets that their deliveries are signed with."""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of


@dataclass(frozen=True)
class StoredWebhook:
    """A webhook as it is stored.

    ``earlier_secret`` signs as well until ``earlier_until``.  ``dropped`` counts the deliveries
    that were given up unsent.
    """

    id: UUID
    organization_id: UUID
    url: str
    events: Sequence[str]
    pool_ids: Sequence[UUID]
    description: str | None
    created_at: datetime
    created_by: str
    secret: str
    earlier_secret: str | None = None
    earlier_until: datetime | None = None
    dropped: int = 0


class WebhookStore:
    """Reads and writes webhooks; what is asked by an organization sees its own alone."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._webhooks = database.collection("webhooks")
        self._deliveries = database.collection("webhook_deliveries")

    async def insert(self, webhook: StoredWebhook) -> None:
        """Store a new one."""
        document = {**vars(webhook), "_id": webhook.id}
        del document["id"]
        async with self._database.operation():
            await self._webhooks.insert_one(document)

    async def count(self, organization_id: UUID) -> int:
        """How many the organization has."""
        async with self._database.operation():
            return await self._webhooks.count_documents({"organization_id": organization_id})

    async def find(self, webhook_id: UUID) -> StoredWebhook | None:
        """Whoever's webhook has this id, or None."""
        async with self._database.operation():
            found = await self._webhooks.find_one({"_id": webhook_id})
        return None if found is None else _webhook(found)

    async def get(self, organization_id: UUID, webhook_id: UUID) -> StoredWebhook | None:
        """The webhook, or None."""
        found = await self.find(webhook_id)
        return found if found is not None and found.organization_id == organization_id else None

    async def of(self, organization_id: UUID, event: str) -> builtins.list[StoredWebhook]:
        """Those that are told of an event."""
        wanted = {"organization_id": organization_id, "events": event}
        cursor = self._webhooks.find(wanted)
        return [_webhook(found) async for found in self._database.documents(cursor)]

    async def list(
        self, organization_id: UUID, page: PageQuery
    ) -> tuple[builtins.list[StoredWebhook], int]:
        """One page of them, newest first, and how many there are in all."""
        wanted = {"organization_id": organization_id}
        order = [("created_at", -1), ("_id", -1)]
        cursor = self._webhooks.find(wanted, sort=order, skip=page.skip, limit=page.limit)
        found = [_webhook(each) async for each in self._database.documents(cursor)]
        return found, await self.count(organization_id)

    async def change(
        self, organization_id: UUID, webhook_id: UUID, changes: Mapping[str, Any]
    ) -> StoredWebhook | None:
        """Set fields; the webhook as it is then, or None."""
        async with self._database.operation():
            found = await self._webhooks.find_one_and_update(
                {"_id": webhook_id, "organization_id": organization_id},
                {"$set": {**changes}},
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else _webhook(found)

    async def delete(self, organization_id: UUID, webhook_id: UUID) -> bool:
        """Remove one, with its deliveries; False where there is none."""
        wanted = {"_id": webhook_id, "organization_id": organization_id}
        async with self._database.operation():
            deleted = await self._webhooks.delete_one(wanted)
        if deleted.deleted_count:
            async with self._database.operation():
                await self._deliveries.delete_many({"webhook_id": webhook_id})
        return deleted.deleted_count == 1


def _webhook(document: Document) -> StoredWebhook:
    return StoredWebhook(id=document["_id"], **fields_of(StoredWebhook, document))
