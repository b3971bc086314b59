"""Pictures by their content, each organization's stored once, however many steps refer to it."""

from hashlib import sha256
from uuid import UUID

from schemas.resources.stored_pictures import PictureMediaType, StoredPicture
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now


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
    ) -> tuple[StoredPicture, bool]:
        """Store a picture; whether it is new.

        ``recorded_on`` is the machine that it shows; None where somebody has sent it, for whom it
        is new as well where recordings alone had it.
        """
        picture_id = sha256(content).hexdigest()
        made = StoredPicture(
            id=picture_id, media_type=media_type, size=len(content), created_at=now()
        )
        fields = {**vars(made), "organization_id": organization_id, "content": content}
        del fields["id"]
        whose: Document = {"$set": {"is_sent": True}}
        if recorded_on is not None:
            whose = {"$addToSet": {"recorded_on": recorded_on}}
        async with self._database.operation():
            result = await self._pictures.update_one(
                {"_id": _scoped(organization_id, picture_id)},
                {"$setOnInsert": fields, **whose},
                upsert=True,
            )
        if result.upserted_id is not None:
            return made, True
        is_new = recorded_on is None and result.modified_count == 1
        there = await self.get(organization_id, picture_id)
        # Deleted in between, by somebody who does not want it.
        return (made, is_new) if there is None else (there[0], is_new)

    async def machines_of(self, organization_id: UUID, picture_id: str) -> list[str] | None:
        """The machines whose recordings alone have it; None where anybody of the organization may
        see it, or where it is not there."""
        async with self._database.operation():
            found = await self._pictures.find_one(
                {"_id": _scoped(organization_id, picture_id), "is_sent": {"$ne": True}},
                {"recorded_on": True},
            )
        return None if found is None else found.get("recorded_on")

    async def get(
        self, organization_id: UUID, picture_id: str
    ) -> tuple[StoredPicture, bytes] | None:
        """A picture and its bytes, or None."""
        async with self._database.operation():
            found = await self._pictures.find_one({"_id": _scoped(organization_id, picture_id)})
        if found is None:
            return None
        picture = StoredPicture(
            id=picture_id,
            media_type=found["media_type"],
            size=found["size"],
            created_at=found["created_at"],
        )
        return picture, found["content"]

    async def delete(self, organization_id: UUID, picture_id: str) -> bool:
        """Delete a picture, whoever refers to it; whether it was there."""
        async with self._database.operation():
            result = await self._pictures.delete_one({"_id": _scoped(organization_id, picture_id)})
        return result.deleted_count == 1


def _scoped(organization_id: UUID, picture_id: str) -> bytes:
    return organization_id.bytes + bytes.fromhex(picture_id)
