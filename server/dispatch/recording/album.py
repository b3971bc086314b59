"""The pictures that a recording keeps: each once, and no more of them than may be."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final
from uuid import UUID

from schemas.link.picture_frames import Picture
from schemas.resources.recordings import MOST_PICTURE_BYTES
from schemas.resources.stored_pictures import media_type_of
from server.store.trajectories.pictures import PictureStore

MOST_KNOWN: Final = 1000
"""So many are known to be there; what was forgotten is written once more, and kept once."""


class Album:
    """Stores the pictures of one recording; `number` and `size` (in bytes) are what it keeps."""

    def __init__(self, pictures: PictureStore, organization_id: UUID, machine_id: str) -> None:
        self._pictures = pictures
        self._organization_id = organization_id
        self._machine_id = machine_id
        self._known: dict[str, None] = {}
        self.number = self.size = 0

    def begin(self, number: int, size: int) -> None:
        """So many are there from before."""
        self.number, self.size = number, size

    async def keep(self, pictures: Iterable[Picture]) -> dict[int, str]:
        """Store pictures; the ids of those that are kept, by the objects' own.

        Raises StoreError.
        """
        ids: dict[int, str] = {}
        for picture in pictures:
            if id(picture) not in ids and (kept := await self._keep(picture.content)):
                ids[id(picture)] = kept
        return ids

    async def _keep(self, content: bytes) -> str | None:
        picture_id = sha256(content).hexdigest()
        if picture_id in self._known:
            # The oldest is forgotten first.
            self._known[picture_id] = self._known.pop(picture_id)
            return picture_id
        media_type = media_type_of(content)
        if media_type is None or self.size + len(content) > MOST_PICTURE_BYTES:
            return None
        _, is_new = await self._pictures.add(
            self._organization_id, media_type, content, self._machine_id
        )
        if is_new:
            self.number, self.size = self.number + 1, self.size + len(content)
        self._known[picture_id] = None
        while len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return picture_id
