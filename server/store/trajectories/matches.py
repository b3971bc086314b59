"""A list with a search: the entries that contain the needle, and those trajectories without one."""

from typing import Final

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Collection, Document, own_id
from server.store.mongodb.transactions import Session
from server.store.trajectories.catalogue import WITHOUT_ENTRY
from server.store.trajectories.counts import Position
from server.store.trajectories.rows import NEWEST_FIRST, Selection
from server.store.trajectories.search import (
    containing,
    folded,
    needle_pieces,
    substring_pattern,
)

FEW: Final = 1000
"""What no more have is looked up, compared and sorted at once."""

MANY: Final = 20_000
"""A piece that more have is no help: the texts are read through in the order of the list."""

MIN_LOOKED_UP_CHARACTERS: Final = 3
"""Shorter needles are nearly everywhere, and read for in the same way."""

Place = tuple[Position, bytes]
"""Where a trajectory stands in the list, and its stored id."""

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
        self._without_entry: list[Place] = []
        self._few: list[Place] | None = None
        # How to find the entries, where they are many.
        self._many: Document = {}
        self._index = ""

    async def total(self) -> int:
        """How many there are."""
        self._without_entry = await self._places(
            self._trajectories, {**self._wanted, **WITHOUT_ENTRY, **self._compared}, "uncatalogued"
        )
        self._few = await self._find_few()
        if self._few is not None:
            return len(self._without_entry) + len(self._few)
        self._many, self._index = await self._find_many()
        return len(self._without_entry) + await self._entries.count_documents(
            self._many, session=self._session, hint=self._index
        )

    async def page(self, skip: int, limit: int) -> list[Selection]:
        """The trajectories of a page, by their ids; ``total`` comes before."""
        first, entries = 0, self._few
        if entries is None:
            # Each of those without an entry can stand before any of the entries.
            first = max(0, skip - len(self._without_entry))
            entries = await self._places(
                self._entries, self._many, self._index, skip=first, limit=skip + limit - first
            )
        merged = sorted([*entries, *self._without_entry], reverse=True)[skip - first :][:limit]
        ids = [own for _, own in merged]
        return [
            Selection({"_id": {"$in": some}}, 0, len(some))
            for some in (ids[at : at + _IDS_AT_ONCE] for at in range(0, len(ids), _IDS_AT_ONCE))
        ]

    @property
    def _pieces(self) -> list[str]:
        is_short = len(self._needle) < MIN_LOOKED_UP_CHARACTERS
        return [] if is_short else needle_pieces(self._needle)

    async def _find_few(self) -> list[Place] | None:
        """All entries that are found, where few have a piece of the needle."""
        for piece in self._pieces:
            stages: list[Document] = [
                {"$match": self._having(piece)},
                {"$limit": FEW + 1},
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
                if not result["having"] or result["having"][0]["count"] <= FEW:
                    return [_place(each) for each in result["found"]]
        return None

    async def _find_many(self) -> tuple[Document, str]:
        """The filter for the entries, and the index to find them on."""
        for piece in self._pieces:
            count = await self._entries.count_documents(
                self._having(piece), session=self._session, hint="suffixes", limit=MANY + 1
            )
            if count <= MANY:
                return {**self._wanted, **containing(piece), **self._compared}, "suffixes"
        return {**self._wanted, **self._compared}, "newest"

    def _having(self, piece: str) -> Document:
        return {"organization_id": self._wanted["organization_id"], **containing(piece)}

    async def _places(
        self, collection: Collection, wanted: Document, index: str, *, skip: int = 0, limit: int = 0
    ) -> list[Place]:
        cursor = collection.find(
            wanted,
            {"created_at": True},
            sort=NEWEST_FIRST,
            skip=skip,
            limit=limit,
            hint=index,
            session=self._session,
        )
        return [_place(each) async for each in cursor]


def _place(document: Document) -> Place:
    return Position.of(document["created_at"], own_id(document["_id"])), document["_id"]
