"""A list with a search: the entries that contain the needle, and those trajectories without one."""

from typing import Final

from server.store.database import Collection, Database, Document, own_id
from server.store.trajectory_catalogue import WITHOUT_ENTRY
from server.store.trajectory_counts import Position
from server.store.trajectory_rows import NEWEST_FIRST, Selection
from server.store.trajectory_search import (
    containing,
    folded,
    needle_pieces,
    substring_pattern,
)
from server.store.transactions import Session

FEW: Final = (500, 20_000)
"""A piece is good to look up where fewer have it than the first of these; or else the second."""

MIN_LOOKED_UP_CHARACTERS: Final = 3
"""Shorter needles are nearly everywhere: the texts are read through in the order of the list."""

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
        # Positions in the order of the list, with the ids.
        self._without_entry: list[tuple[Position, bytes]] = []
        self._found: Document = {}
        self._index = ""

    async def total(self) -> int:
        """How many there are."""
        self._found, self._index = await self._lookup()
        self._without_entry = await self._positions(
            self._trajectories, {**self._wanted, **WITHOUT_ENTRY, **self._compared}, "uncatalogued"
        )
        return len(self._without_entry) + await self._entries.count_documents(
            self._found, session=self._session, hint=self._index
        )

    async def page(self, skip: int, limit: int) -> list[Selection]:
        """The trajectories of a page, by their ids; ``total`` comes before."""
        # Each of those without an entry can stand before any of the entries.
        first = max(0, skip - len(self._without_entry))
        entries = await self._positions(
            self._entries, self._found, self._index, skip=first, limit=skip + limit - first
        )
        merged = sorted([*entries, *self._without_entry], reverse=True)[skip - first :][:limit]
        ids = [own for _, own in merged]
        return [
            Selection({"_id": {"$in": some}}, 0, len(some))
            for some in (ids[at : at + _IDS_AT_ONCE] for at in range(0, len(ids), _IDS_AT_ONCE))
        ]

    async def _lookup(self) -> tuple[Document, str]:
        """The filter for the entries, and the index to find them on."""
        pieces = needle_pieces(self._needle)
        if len(self._needle) >= MIN_LOOKED_UP_CHARACTERS:
            for few in FEW:
                for piece in pieces:
                    if await self._is_in_fewer(piece, few):
                        compared = self._compared if piece != self._needle else {}
                        return {**self._wanted, **containing(piece), **compared}, "suffixes"
        return {**self._wanted, **self._compared}, "newest"

    async def _is_in_fewer(self, piece: str, few: int) -> bool:
        wanted = {"organization_id": self._wanted["organization_id"], **containing(piece)}
        count = await self._entries.count_documents(
            wanted, session=self._session, hint="suffixes", limit=few
        )
        return count < few

    async def _positions(
        self, collection: Collection, wanted: Document, index: str, *, skip: int = 0, limit: int = 0
    ) -> list[tuple[Position, bytes]]:
        cursor = collection.find(
            wanted,
            {"created_at": True},
            sort=NEWEST_FIRST,
            skip=skip,
            limit=limit,
            hint=index,
            session=self._session,
        )
        return [
            (Position.of(each["created_at"], own_id(each["_id"])), each["_id"])
            async for each in cursor
        ]
