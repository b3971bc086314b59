"""Pictures by their content, each organization's stored once, however many steps refer to it."""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from schemas.resources.stored_pictures import PictureMediaType, StoredPicture
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now
from server.store.trajectories.picture_uses import LATELY, PictureUses, scoped_picture


class PictureStore:
    """Every method sees the pictures of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pictures = database.collection("pictures")

    async def add(
        self,
        organization_id: UUID,
        media_type: PictureMediaType,
        content: bytes,
        recorded_on: str | None = None,
        kept_for: timedelta | None = None,
    ) -> tuple[StoredPicture, bool]:
        """Store a picture; whether it is new.

        ``recorded_on`` is the machine that it shows; None where somebody has sent it, for whom it
        is new as well where recordings alone had it.  ``kept_for`` is how long it is needed by
        something else than trajectories.
        """
        own = scoped_picture(organization_id, picture_id := sha256(content).hexdigest())
        made = StoredPicture(
            id=picture_id, media_type=media_type, size=len(content), created_at=now()
        )
        fields = {**vars(made), "organization_id": organization_id, "content": content}
        fields["used_at"] = made.created_at
        del fields["id"]
        whose: Document = {"$set": {"is_sent": True}}
        if recorded_on is not None:
            whose = {"$addToSet": {"recorded_on": recorded_on}}
        if kept_for is not None:
            whose["$max"] = {"kept_until": made.created_at + kept_for}
        async with self._database.operation():
            result = await self._pictures.update_one(
                {"_id": own},
                {"$setOnInsert": fields, **whose},
                upsert=True,
            )
        if result.upserted_id is not None:
            return made, True
        is_new = recorded_on is None and result.modified_count == 1
        # Before it is looked for: whoever removes what was not used for long leaves it alone then.
        async with self._database.operation():
            await self._pictures.update_one(
                {"_id": own, "used_at": {"$lt": made.created_at - LATELY}},
                {"$set": {"used_at": made.created_at}},
            )
        there = await self.get(organization_id, picture_id)
        if there is None:  # It went in between.
            return await self.add(organization_id, media_type, content, recorded_on, kept_for)
        return there[0], is_new

    async def machines_of(self, organization_id: UUID, picture_id: str) -> list[str] | None:
        """The machines whose recordings alone have it; None where anybody of the organization may
        see it, or where it is not there."""
        async with self._database.operation():
            found = await self._pictures.find_one(
                {"_id": scoped_picture(organization_id, picture_id), "is_sent": {"$ne": True}},
                {"recorded_on": True},
            )
        return None if found is None else found.get("recorded_on")

    async def get(
        self, organization_id: UUID, picture_id: str
    ) -> tuple[StoredPicture, bytes] | None:
        """A picture and its bytes, or None."""
        async with self._database.operation():
            found = await self._pictures.find_one(
                {"_id": scoped_picture(organization_id, picture_id)}
            )
        if found is None:
            return None
        picture = StoredPicture(
            id=picture_id,
            media_type=found["media_type"],
            size=found["size"],
            created_at=found["created_at"],
        )
        return picture, found["content"]

    async def there(self, organization_id: UUID, picture_ids: Iterable[str]) -> set[str]:
        """Those of these that are there."""
        async with self._database.operation():
            return await PictureUses(self._database).there(organization_id, picture_ids)

    async def delete(self, organization_id: UUID, picture_id: str) -> bool:
        """Delete a picture, whoever refers to it; whether it was there."""
        async with self._database.operation():
            result = await self._pictures.delete_one(
                {"_id": scoped_picture(organization_id, picture_id)}
            )
        return result.deleted_count == 1
