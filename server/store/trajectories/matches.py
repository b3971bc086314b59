"""A list with a search: the entries that contain the needle, and those trajectories without one."""

from typing import Any, Final

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from server.store.trajectories.counted_list import Order, Selection
from server.store.trajectories.marks import MARKED_LONG, OpenBatches, is_new, marked_new
from server.store.trajectories.search import (
    MIN_LOOKED_UP_CHARACTERS,
    containing,
    folded,
    lookup_keys,
    substring_pattern,
)

MAX_SORTED: Final = 1000
"""Where no more entries have a key of the needle, they are compared and sorted at once."""

MAX_LOOKED_UP: Final = 20_000
"""A key that more entries have is no help: all texts are read through in the list's order."""

Match = tuple[Any, ...]
"""The fields of a trajectory that the order compares; the last one is its ``_id``."""

_IDS_AT_ONCE: Final = 100
_LOOKUP: Final = "suffixes_of_segment"
_NEWEST: Final = "newest"


class TrajectoryMatches:
    """The trajectories that a filter and a search find, in one snapshot."""

    def __init__(
        self, database: Database, session: Session, wanted: Document, search: str, order: Order
    ) -> None:
        self._trajectories = database.collection("trajectories")
        self._entries = database.collection("trajectory_entries")
        self._open = OpenBatches(database)
        self._session = session
        self._wanted = wanted
        self._order = order
        self._needle = folded(search)
        self._compared: Document = {"search": {"$regex": substring_pattern(self._needle)}}
        # Those without an entry, and those with one, where they are few.
        self._without_entry: list[Match] = []
        self._few: list[Match] | None = None
        self._segments: list[int] | None = None
        # How to find the entries, where they are many.
        self._many: Document = {}
        self._index = ""

    async def total(self) -> int:
        """How many there are."""
        self._without_entry = await self._find_without_entry()
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
            entries = await self._some_of_many(first, skip + limit - first)
        merged = sorted([*entries, *self._without_entry], reverse=self._order.is_descending)
        ids = [match[-1] for match in merged[skip - first :][:limit]]
        return [
            Selection({"_id": {"$in": some}}, 0, len(some))
            for some in (ids[at : at + _IDS_AT_ONCE] for at in range(0, len(ids), _IDS_AT_ONCE))
        ]

    @property
    def _lookup_keys(self) -> list[str]:
        is_short = len(self._needle) < MIN_LOOKED_UP_CHARACTERS
        return [] if is_short else lookup_keys(self._needle)

    async def _find_without_entry(self) -> list[Match]:
        """Those with long texts, and the new ones whose marks say that they have none."""
        found: list[Document] = []
        for marked, index in ((MARKED_LONG, "long"), (marked_new(), "unindexed")):
            cursor = self._trajectories.find(
                {**self._wanted, **marked, **self._compared},
                (*self._order.fields, "unindexed"),
                hint=index,
                session=self._session,
            )
            found += await cursor.to_list(None)
        # Nearly always none is new, and then nothing more is asked.
        is_any_new = any(map(is_new, found))
        known = await self._open.marks_with_texts(self._session) if is_any_new else set[str]()
        return [self._match(each) for each in found if each["unindexed"] not in known]

    async def _find_few(self) -> list[Match] | None:
        """All entries that are found, where few have a key of the needle."""
        for key in self._lookup_keys:
            having = {**await self._in_organization(), **containing(key)}
            stages: list[Document] = [
                {"$match": having},
                {"$limit": MAX_SORTED + 1},
                {
                    "$facet": {
                        "having": [{"$count": "count"}],
                        "found": [
                            {"$match": {**self._wanted, **self._compared}},
                            self._compared_fields,
                        ],
                    }
                },
            ]
            cursor = self._entries.aggregate(stages, session=self._session, hint=_LOOKUP)
            async for result in cursor:
                if not result["having"] or result["having"][0]["count"] <= MAX_SORTED:
                    return [self._match(each) for each in result["found"]]
        return None

    async def _find_many(self) -> tuple[Document, str]:
        """The filter for the entries, and the index to find them on."""
        for key in self._lookup_keys:
            having = {**await self._in_organization(), **containing(key)}
            count = await self._entries.count_documents(
                having, session=self._session, hint=_LOOKUP, limit=MAX_LOOKED_UP + 1
            )
            if count <= MAX_LOOKED_UP:
                return {**self._wanted, **having, **self._compared}, _LOOKUP
        return {**self._wanted, **self._compared}, _NEWEST

    async def _in_organization(self) -> Document:
        """What the filter for entries with a key begins with: it is looked up in each segment."""
        wanted = {"organization_id": self._wanted["organization_id"]}
        if self._segments is None:
            last = await self._entries.find_one(
                wanted,
                {"_id": False, "segment": True},
                sort=[("segment", -1)],
                hint=_LOOKUP,
                session=self._session,
            )
            self._segments = list(range(last["segment"] + 1 if last else 0))
        return {**wanted, "segment": {"$in": self._segments}}

    async def _some_of_many(self, skip: int, limit: int) -> list[Match]:
        """So many entries behind those that are skipped.

        On the index in this order they are read one after another.  All others are sorted, of
        which MongoDB keeps what is skipped and found: of each no more than what is compared.
        """
        page: list[Document] = [
            {"$sort": dict(self._order.sort)},
            {"$skip": skip},
            {"$limit": limit},
        ]
        is_sorted = self._index == _NEWEST and self._order.index is None
        stages = [*page, self._compared_fields] if is_sorted else [self._compared_fields, *page]
        cursor = self._entries.aggregate(
            [{"$match": self._many}, *stages], session=self._session, hint=self._index
        )
        return [self._match(each) async for each in cursor]

    @property
    def _compared_fields(self) -> Document:
        return {"$project": dict.fromkeys(self._order.fields, True)}

    def _match(self, document: Document) -> Match:
        return tuple(document[field] for field in self._order.fields)
