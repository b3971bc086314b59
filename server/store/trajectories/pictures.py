"""Pictures by their content, each organization's stored once, however many steps refer to it."""

from hashlib import sha256
from uuid import UUID

from schemas.resources.stored_pictures import PictureMediaType, StoredPicture
from server.store.mongodb.database import Database
from server.store.times import now


class PictureStore:
    """Every method sees the pictures of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pictures = database.collection("pictures")

    async def add(
        self, organization_id: UUID, media_type: PictureMediaType, content: bytes
    ) -> tuple[StoredPicture, bool]:
        """Store a picture; whether it is new."""
        picture_id = sha256(content).hexdigest()
        made = StoredPicture(
            id=picture_id, media_type=media_type, size=len(content), created_at=now()
        )
        fields = {**vars(made), "organization_id": organization_id, "content": content}
        del fields["id"]
        async with self._database.operation():
            result = await self._pictures.update_one(
                {"_id": _scoped(organization_id, picture_id)}, {"$setOnInsert": fields}, upsert=True
            )
        if result.upserted_id is not None:
            return made, True
        there = await self.get(organization_id, picture_id)
        # Deleted in between, by somebody who does not want it.
        return (made, False) if there is None else (there[0], False)

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
