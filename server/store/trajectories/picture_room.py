"""How much room the pictures of an organization take, and which of them are to make some.

The pictures go that belong to what was not changed for the longest; what is approved is left out.
When they go is written with each trajectory beforehand, so that it can be told.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from pymongo import UpdateOne

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id
from server.store.times import now
from server.store.trajectories.keeping import LATEST, NOTICE
from server.store.trajectories.listing import of_machines
from server.store.trajectories.picture_uses import PictureUses

MOST_ANNOUNCED: Final = 2000
"""So many trajectories of an organization are looked at in one go."""

_CHANGED_AT_ONCE: Final = 500
_MILLISECONDS: Final = 1000
_NOT_APPROVED: Final[Document] = {"has_pictures": True, "review.state": {"$ne": "approved"}}


class Going(NamedTuple):
    """A trajectory whose pictures go, and when."""

    id: UUID
    name: str | None
    machine_id: str | None
    pictures_until: datetime


class PictureRoom:
    """Counts the pictures of organizations, and says of trajectories when theirs go."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._pictures = database.collection("pictures")

    async def sizes(self) -> dict[UUID, int]:
        """How many bytes of pictures each organization has that has any."""
        return {each["_id"]: each["size"] for each in await self._sizes({})}

    async def size(self, organization_id: UUID) -> int:
        """How many bytes of pictures an organization has."""
        found = await self._sizes({"organization_id": organization_id})
        return found[0]["size"] if found else 0

    async def _sizes(self, wanted: Document) -> list[Document]:
        counted: list[dict[str, Any]] = [
            {"$match": wanted},
            {"$group": {"_id": "$organization_id", "size": {"$sum": "$size"}}},
        ]
        async with self._database.operation():
            found: list[Document] = await self._pictures.aggregate(counted, hint="sizes").to_list(
                None
            )
        return found

    async def going(
        self,
        organization_id: UUID,
        before: datetime,
        *,
        skip: int,
        limit: int,
        within: Collection[str] | None,
    ) -> tuple[list[Going], int]:
        """The trajectories whose pictures go before then, the next ones first, and how many."""
        wanted = {
            "pictures_until": {"$lte": before, "$type": "date"},
            "organization_id": organization_id,
            **of_machines(within),
        }
        async with self._database.operation():
            total = await self._trajectories.count_documents(wanted, hint="pictures_until")
            cursor = self._trajectories.find(
                wanted,
                {"name": True, "machine_id": True, "pictures_until": True},
                sort=[("pictures_until", 1), ("organization_id", 1)],
                hint="pictures_until",
                skip=skip,
                limit=limit,
            )
            found = [
                Going(
                    own_id(each["_id"]),
                    each["name"],
                    each.get("machine_id"),
                    each["pictures_until"],
                )
                async for each in cursor
            ]
        return found, total

    async def number_going(self, before: datetime) -> dict[UUID, int]:
        """Of how many trajectories of each organization the pictures go before then."""
        counted: list[dict[str, Any]] = [
            {"$match": {"pictures_until": {"$lte": before, "$type": "date"}}},
            {"$group": {"_id": "$organization_id", "number": {"$sum": 1}}},
        ]
        async with self._database.operation():
            cursor = self._trajectories.aggregate(counted, hint="pictures_until")
            return {each["_id"]: each["number"] async for each in cursor}

    async def announce(self, organization_id: UUID, excess: int) -> int:
        """Have pictures go that make room of so many bytes; how many bytes are still missing.

        Those that go by then anyway count as well.
        """
        cursor = self._trajectories.find(
            {"organization_id": organization_id, **_NOT_APPROVED},
            {"pictures_until": True, "pictures_bytes": True, "version": True},
            sort=[("organization_id", 1), ("updated_at", 1), ("_id", 1)],
            hint="with_pictures",
            limit=MOST_ANNOUNCED,
        )
        goes_at = now() + NOTICE
        async for each in self._database.documents(cursor):
            if excess <= 0:
                break
            size = each.get("pictures_bytes")
            if size is None:
                size = await self._size_of(organization_id, own_id(each["_id"]))
            excess -= size
            await self._say(each, goes_at, size)
        return max(excess, 0)

    async def _say(self, found: Document, goes_at: datetime, size: int) -> None:
        """Have the pictures of a trajectory go then, unless they go earlier or it has changed."""
        fields: Document = {}
        until = found.get("pictures_until")
        if found.get("pictures_bytes") is None:
            fields["pictures_bytes"] = size
        if until is None or until > goes_at:
            fields["pictures_until"] = goes_at
        if fields:
            async with self._database.operation():
                await self._trajectories.update_one(
                    {"_id": found["_id"], "version": found["version"]},
                    {"$set": fields, "$inc": {"version": int("pictures_until" in fields)}},
                )

    async def _size_of(self, organization_id: UUID, trajectory_id: UUID) -> int:
        """How many bytes the pictures of a trajectory have; others may share them."""
        own = organization_id.bytes + trajectory_id.bytes
        async with self._database.operation():
            pictures = [use.picture async for use in PictureUses(self._database).of(own)]
            cursor = self._pictures.find(
                {"_id": {"$in": pictures}},
                {"_id": True, "used_at": True, "size": True},
                hint="ages",
            )
            return sum([each["size"] async for each in cursor])

    async def reckon(self, lifetime: timedelta | None) -> None:
        """Say anew of all trajectories until when their pictures are kept, by another lifetime."""
        cursor = self._trajectories.find(
            _NOT_APPROVED, {"_id": True}, hint="with_pictures", batch_size=_CHANGED_AT_ONCE
        )
        until: Any = None
        if lifetime is not None:
            age = int(lifetime.total_seconds() * _MILLISECONDS)
            until = {"$max": [{"$add": ["$updated_at", age]}, now() + NOTICE]}
            until = {"$min": [until, LATEST]}
        fields = {"pictures_until": until, "pictures_bytes": None}
        change = [{"$set": {**fields, "version": {"$add": ["$version", 1]}}}]
        waiting: list[UpdateOne] = []
        async for each in self._database.documents(cursor):
            waiting.append(UpdateOne({"_id": each["_id"], **_NOT_APPROVED}, change))
            if len(waiting) == _CHANGED_AT_ONCE:
                await self._change(waiting)
                waiting = []
        await self._change(waiting)

    async def _change(self, changes: list[UpdateOne]) -> None:
        if changes:
            async with self._database.operation():
                await self._trajectories.bulk_write(changes, ordered=False)
