"""Which trajectories refer to which pictures, so that none goes that another one needs.

A use is written in the transaction that writes the steps, or before them.  Before it the picture is
touched, where it was not used of late.  Whoever removes a picture leaves alone what was used of
late, looks for its uses, and removes it as it was read: so none goes that somebody has just begun
to refer to.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

from pymongo import UpdateOne

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.mongodb.transactions import Session
from server.store.times import now

LATELY: Final = timedelta(hours=1)
"""What was used within this is not removed: a trajectory may be about to refer to it."""

_AT_ONCE: Final = 1000
_PICTURE_ID_BYTES: Final = 48
_TRAJECTORY_ID_BYTES: Final = 16


class PictureUse(NamedTuple):
    """A use as it was read: its ``_id``, the picture's, and when it was written last."""

    id: bytes
    picture: bytes
    at: datetime


def scoped_picture(organization_id: UUID, picture_id: str) -> bytes:
    """The ``_id`` of a picture."""
    return organization_id.bytes + bytes.fromhex(picture_id)


class PictureUses:
    """The uses, in a transaction where its ``session`` is given, else each within an operation.

    Everything here raises the driver's own errors.
    """

    def __init__(self, database: Database, session: Session | None = None) -> None:
        self._session = session
        self._uses = database.collection("picture_uses")
        self._pictures = database.collection("pictures")
        self._removals = database.collection("picture_removals")

    async def add(
        self, organization_id: UUID, trajectory_id: UUID, picture_ids: Iterable[str]
    ) -> None:
        """A trajectory refers to these pictures, which need not be there."""
        own = scoped_id(organization_id, trajectory_id)
        pictures = sorted(scoped_picture(organization_id, each) for each in picture_ids)
        await self._add(own, pictures)

    async def _add(self, own: bytes, pictures: Collection[bytes]) -> None:
        for some in _some(pictures):
            moment = now()
            await self._pictures.update_many(
                {"_id": {"$in": some}, "used_at": {"$lt": moment - LATELY}},
                {"$set": {"used_at": moment}},
                session=self._session,
            )
            written: Document = {"$set": {"trajectory": own, "at": moment}}
            await self._uses.bulk_write(
                [UpdateOne({"_id": each + own[16:]}, written, upsert=True) for each in some],
                ordered=False,
                session=self._session,
            )

    async def keep(
        self, organization_id: UUID, trajectory_id: UUID, picture_ids: Iterable[str]
    ) -> None:
        """A trajectory refers to these pictures, and to no others any more."""
        own = scoped_id(organization_id, trajectory_id)
        pictures = {scoped_picture(organization_id, each) for each in picture_ids}
        there = {use.picture async for use in self.of(own)}
        for some in _some(sorted(there - pictures)):
            gone = [each + own[16:] for each in some]
            await self._uses.delete_many({"_id": {"$in": gone}}, session=self._session)
        await self._add(own, sorted(pictures))

    async def copy(self, organization_id: UUID, from_id: UUID, to_id: UUID) -> None:
        """A trajectory refers to all that another one does."""
        original = scoped_id(organization_id, from_id)
        pictures = [use.picture async for use in self.of(original)]
        await self._add(scoped_id(organization_id, to_id), pictures)

    async def release(self, organization_id: UUID, trajectory_id: UUID) -> None:
        """A trajectory needs its pictures no more: whoever removes pictures goes on with that."""
        own = scoped_id(organization_id, trajectory_id)
        await self._removals.update_one(
            {"_id": own}, {"$setOnInsert": {"at": now()}}, upsert=True, session=self._session
        )

    async def there(self, organization_id: UUID, picture_ids: Iterable[str]) -> set[str]:
        """Those of these pictures that are there."""
        found: set[str] = set()
        for some in _some(sorted(scoped_picture(organization_id, each) for each in picture_ids)):
            cursor = self._pictures.find(
                {"_id": {"$in": some}}, {"_id": True}, session=self._session
            )
            found |= {each["_id"][16:].hex() async for each in cursor}
        return found

    async def of(self, trajectory: bytes) -> AsyncIterator[PictureUse]:
        """All uses of a trajectory, by its ``_id``."""
        cursor = self._uses.find(
            {"trajectory": trajectory}, {"_id": True, "at": True}, session=self._session
        )
        async for each in cursor:
            yield PictureUse(each["_id"], each["_id"][:_PICTURE_ID_BYTES], each["at"])


def uses_of(picture: bytes) -> Document:
    """What finds the uses of a picture."""
    return {
        "$gte": picture + b"\x00" * _TRAJECTORY_ID_BYTES,
        "$lte": picture + b"\xff" * _TRAJECTORY_ID_BYTES,
    }


def _some(all_: Collection[bytes]) -> Iterator[list[bytes]]:
    rest = iter(all_)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
