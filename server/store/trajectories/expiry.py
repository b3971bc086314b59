"""The pictures of trajectories whose time has come: removed, and nothing that is needed with them.

First the trajectory says that its pictures have expired, and that they are to be removed is
written, in one transaction; then they go, one after another, unless another trajectory uses them.
Whoever ends in between leaves that to the next, to whom what has gone already makes no difference.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from server.store.mongodb.database import Database
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now
from server.store.trajectories.picture_uses import LATELY, PictureUse, PictureUses, uses_of

_DUE_AT_ONCE: Final = 50
_REMOVALS_AT_ONCE: Final = 50
SWEPT_AT_ONCE: Final = 500
_LOOKED_AT: Final = 20
"""So many uses of a picture are looked at, to find those of trajectories that are no more."""

FIRST: Final = b""
"""Where a sweep begins, and has ended."""


@dataclass
class Removed:
    """What went: pictures, and their bytes."""

    pictures: int = 0
    size: int = 0


class Swept(NamedTuple):
    """How far a sweep came, and what went."""

    place: bytes
    removed: Removed


class PictureExpiry:
    """Removes pictures of every organization."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._pictures = database.collection("pictures")
        self._uses = database.collection("picture_uses")
        self._removals = database.collection("picture_removals")

    async def expire_due(self) -> int:
        """Have the pictures of some trajectories expire whose time has come; of how many."""
        moment = now()
        due = {"pictures_until": {"$lte": moment, "$type": "date"}}
        async with self._database.operation():
            cursor = self._trajectories.find(due, {"_id": True}, hint="pictures_until")
            found = await cursor.sort("pictures_until", 1).to_list(_DUE_AT_ONCE)
        expired = 0
        for each in found:
            expired += await self._expire(each["_id"], moment)
        return expired

    async def _expire(self, own: bytes, moment: datetime) -> bool:
        """Whether the time of its pictures had come: it may have been changed or approved."""

        async def work(session: Session) -> bool:
            result = await self._trajectories.update_one(
                {"_id": own, "pictures_until": {"$lte": moment}},
                {
                    "$set": {"pictures_expired_at": moment, "has_pictures": False},
                    "$unset": {"pictures_until": "", "pictures_bytes": ""},
                    "$inc": {"version": 1},
                },
                session=session,
            )
            if result.modified_count:
                await self._removals.update_one(
                    {"_id": own}, {"$setOnInsert": {"at": moment}}, upsert=True, session=session
                )
            return bool(result.modified_count)

        return await in_transaction(self._database, work)

    async def remove(self, most: int) -> Removed:
        """Remove pictures that trajectories need no more; so many are looked at, at most."""
        removed = Removed()
        async with self._database.operation():
            found = await self._removals.find({}).sort("_id", 1).to_list(_REMOVALS_AT_ONCE)
        for removal in found:
            uses = await self._uses_to_end(removal["_id"])
            for use in uses[:most]:
                await self._end(use, removed)
            if len(uses) > most:
                break
            most -= len(uses)
            await self._finish(removal["_id"])
        return removed

    async def _uses_to_end(self, own: bytes) -> list[PictureUse]:
        """The uses of a trajectory whose pictures expired; none where it has some again."""
        again = {"_id": own, "has_pictures": True}
        async with self._database.operation():
            if await self._trajectories.find_one(again, {"_id": True}) is not None:
                await self._removals.delete_one({"_id": own})
                return []
            return [each async for each in PictureUses(self._database).of(own)]

    async def _finish(self, own: bytes) -> None:
        """Nothing is left to be removed for a trajectory, unless it was too early for some."""
        async with self._database.operation():
            if await self._uses.find_one({"trajectory": own}, {"_id": True}) is None:
                await self._removals.delete_one({"_id": own})

    async def _end(self, use: PictureUse, removed: Removed) -> None:
        """End a use, and remove its picture where it was the last one."""
        others = {"_id": {**uses_of(use.picture), "$ne": use.id}}
        async with self._database.operation():
            is_last = await self._uses.find_one(others, {"_id": True}) is None
            if is_last and not await self._remove(use.picture, removed):
                return
            # As it was read: its trajectory may need it anew.
            await self._uses.delete_one({"_id": use.id, "at": use.at})

    async def _remove(self, own: bytes, removed: Removed) -> bool:
        """Remove a picture that nobody refers to; False where it is too early to say that."""
        moment = now()
        found = await self._pictures.find_one(
            {"_id": own}, {"size": True, "used_at": True, "kept_until": True}
        )
        if found is None or found.get("kept_until", moment) > moment:
            return True
        if found["used_at"] > moment - LATELY:
            return False
        # As it was read: somebody may be about to refer to it.
        result = await self._pictures.delete_one({"_id": own, "used_at": found["used_at"]})
        if result.deleted_count:
            removed.pictures += 1
            removed.size += found["size"]
        return bool(result.deleted_count)

    async def sweep(self, place: bytes, lifetime: timedelta, most: int = SWEPT_AT_ONCE) -> Swept:
        """Remove some of the pictures that no trajectory refers to and nobody has used for so long.

        It goes through all of them, from ``place`` on; the next one goes on where it ended.
        """
        removed, before = Removed(), now() - lifetime
        async with self._database.operation():
            cursor = self._pictures.find(
                {"_id": {"$gt": place}}, {"_id": True, "used_at": True}, hint="ages"
            )
            found = await cursor.sort("_id", 1).to_list(most)
        for each in found:
            if each.get("used_at", before) < before:
                async with self._database.operation():
                    if await self._is_unused(each["_id"]):
                        await self._remove(each["_id"], removed)
        is_over = len(found) < most
        return Swept(FIRST if is_over else found[-1]["_id"], removed)

    async def _is_unused(self, picture: bytes) -> bool:
        """Whether nobody refers to a picture; uses of what was never stored, or is no more, end."""
        cursor = self._uses.find({"_id": uses_of(picture)})
        uses = await cursor.to_list(_LOOKED_AT)
        owners = {each["trajectory"] for each in uses}
        cursor = self._trajectories.find({"_id": {"$in": [*owners]}}, {"_id": True})
        there = {each["_id"] async for each in cursor}
        early = now() - LATELY
        over = [e["_id"] for e in uses if e["trajectory"] not in there and e["at"] < early]
        if over:
            await self._uses.delete_many({"_id": {"$in": over}})
        return len(over) == len(uses)
