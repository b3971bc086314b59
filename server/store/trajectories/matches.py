"""A list with a search: the entries that contain the needle, and those trajectories without one."""

from typing import Final

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Collection, Document, own_id
from server.store.mongodb.transactions import Session
from server.store.trajectories.counted_list import NEWEST_FIRST, Selection
from server.store.trajectories.counts import Position
from server.store.trajectories.indexer import WITHOUT_ENTRY
from server.store.trajectories.search import (
    containing,
    folded,
    lookup_keys,
    substring_pattern,
)

MAX_SORTED: Final = 1000
"""Where no more entries have a key of the needle, they are compared and sorted at once."""

MAX_LOOKED_UP: Final = 20_000
"""A key that more entries have is no help: all texts are read through in the list's order."""

MIN_LOOKED_UP_CHARACTERS: Final = 3
"""Shorter needles are nearly everywhere: all texts are read through for them too."""

Match = tuple[Position, bytes]
"""A trajectory's place in the list, and its ``_id``."""

_IDS_AT_ONCE: Final = 100


class TrajectoryMatches:
    """The trajectories that a filter and a search find, in one snapshot."""

    def __init__(self, database: Database, session: Session, wanted: Document, search: str) -> None:
        self._trajectories = database.collection("trajectories")
        self._entries = database.collection("trajectory_entries")
        self._session = session
        self._wanted = wanted
        self._needle = folded(search)
        self._compared: Document = {"search": {"$regex": substring_pattern(self._needle)}}
        # Positions with the ids: those without an entry, and those with one, where they are few.
        self._without_entry: list[Match] = []
        self._few: list[Match] | None = None
        # How to find the entries, where they are many.
        self._many: Document = {}
        self._index = ""

    async def total(self) -> int:
        """How many there are."""
        self._without_entry = await self._matches(
            self._trajectories, {**self._wanted, **WITHOUT_ENTRY, **self._compared}, "unindexed"
        )
        self._few = await self._find_few()
        if self._few is not None:
            return len(self._without_entry) + len(self._few)
        self._many, self._index = await self._find_many()
        return len(self._without_entry) + await self._entries.count_documents(
            self._many, session=self._session, hint=self._index
        )

    async def page(self, skip: int, limit: int) -> list[Selection]:
        """The trajectories of a page, by their ids; call ``total`` first."""
        first, entries = 0, self._few
        if entries is None:
            # Each of those without an entry can stand before any of the entries.
            first = max(0, skip - len(self._without_entry))
            entries = await self._matches(
                self._entries, self._many, self._index, skip=first, limit=skip + limit - first
            )
        merged = sorted([*entries, *self._without_entry], reverse=True)[skip - first :][:limit]
        ids = [own for _, own in merged]
        return [
            Selection({"_id": {"$in": some}}, 0, len(some))
            for some in (ids[at : at + _IDS_AT_ONCE] for at in range(0, len(ids), _IDS_AT_ONCE))
        ]

    @property
    def _lookup_keys(self) -> list[str]:
        is_short = len(self._needle) < MIN_LOOKED_UP_CHARACTERS
        return [] if is_short else lookup_keys(self._needle)

    async def _find_few(self) -> list[Match] | None:
        """All entries that are found, where few have a key of the needle."""
        for key in self._lookup_keys:
            stages: list[Document] = [
                {"$match": self._having(key)},
                {"$limit": MAX_SORTED + 1},
                {
                    "$facet": {
                        "having": [{"$count": "count"}],
                        "found": [
                            {"$match": {**self._wanted, **self._compared}},
                            {"$project": {"created_at": True}},
                        ],
                    }
                },
            ]
            cursor = self._entries.aggregate(stages, session=self._session, hint="suffixes")
            async for result in cursor:
                if not result["having"] or result["having"][0]["count"] <= MAX_SORTED:
                    return [_match(each) for each in result["found"]]
        return None

    async def _find_many(self) -> tuple[Document, str]:
        """The filter for the entries, and the index to find them on."""
        for key in self._lookup_keys:
            count = await self._entries.count_documents(
                self._having(key), session=self._session, hint="suffixes", limit=MAX_LOOKED_UP + 1
            )
            if count <= MAX_LOOKED_UP:
                return {**self._wanted, **containing(key), **self._compared}, "suffixes"
        return {**self._wanted, **self._compared}, "newest"

    def _having(self, key: str) -> Document:
        return {"organization_id": self._wanted["organization_id"], **containing(key)}

    async def _matches(
        self, collection: Collection, wanted: Document, index: str, *, skip: int = 0, limit: int = 0
    ) -> list[Match]:
        cursor = collection.find(
            wanted,
            {"created_at": True},
            sort=NEWEST_FIRST,
            skip=skip,
            limit=limit,
            hint=index,
            session=self._session,
        )
        return [_match(each) async for each in cursor]


def _match(document: Document) -> Match:
    return Position.of(document["created_at"], own_id(document["_id"])), document["_id"]
