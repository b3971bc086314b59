"""A list without a search: a partition of the trajectories, counted by its buckets.

Filters that the counts do not know (a run, a time of update) are counted on their index, and there
``skip`` goes along it.
"""

from bisect import bisect_left
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session
from server.store.trajectories.counts import (
    BEGINNING,
    END,
    MAX_BUCKET,
    STATES,
    Bucket,
    ListPartition,
    Position,
    TrajectoryCounts,
)
from server.store.trajectories.marks import OpenBatches, marked_new

NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]

_UNCOUNTED_FILTERS: Final = {"run_id", "updated_at"}


class Selection(NamedTuple):
    """What to read for a page: newest first, ``limit`` of what the filter finds, after ``skip``.

    ``hint`` is the MongoDB index to read on; without one, MongoDB chooses.
    """

    filter: Document
    skip: int
    limit: int
    hint: str | None = None


class CountedList:
    """The trajectories that a filter without a search finds, in one snapshot."""

    def __init__(self, database: Database, session: Session, wanted: Document) -> None:
        self._trajectories = database.collection("trajectories")
        self._counts = TrajectoryCounts(database)
        self._session = session
        self._wanted = wanted
        self._partition = ListPartition(wanted["organization_id"], wanted.get("workflow_id"))
        self._index = _index(wanted)
        self._begin, self._end = _bounds(wanted)
        # The buckets that are wholly asked for, and where the last of them ends.
        self._buckets: list[Bucket] = []
        self._buckets_end = self._begin
        self._newer = self._unindexed = 0
        self._open = OpenBatches(database)
        # The marks that say nothing any more, where there are any others.
        self._known: list[str] = []

    async def total(self) -> int:
        """How many there are."""
        if not self._wanted.keys() & _UNCOUNTED_FILTERS:
            await self._find_buckets()
        if not self._buckets:
            return await self._count(self._wanted, self._index)
        first = self._buckets[0].position
        older = await self._count_between(self._begin, first)
        self._newer = await self._count_between(self._buckets_end, self._end)
        # Nearly always nothing is marked, and then nothing more is asked.
        if await self._count_unindexed(first, self._buckets_end, limit=1):
            self._known = await self._open.marks(self._session)
            self._unindexed = await self._count_unindexed(first, self._buckets_end)
        return older + sum(each.size for each in self._buckets) + self._unindexed + self._newer

    async def page(self, skip: int, limit: int) -> list[Selection]:
        """Where the page is, counted from a bucket near it; call ``total`` first."""
        if skip <= max(MAX_BUCKET, self._newer) or not self._buckets:
            return [Selection(self._wanted, skip, limit, self._index)]
        # A binary search for the last bucket that has no more behind it than the page skips.
        passed, unindexed, low, high = self._newer, 0, 0, len(self._buckets)
        position = self._buckets_end
        sizes = [each.size for each in self._buckets]
        while low < high:
            middle = (low + high) // 2
            candidate = self._buckets[middle].position
            behind_it = unindexed
            if self._unindexed:
                # Only from there to what was counted before: all together are read once.
                behind_it += await self._count_unindexed(candidate, position)
            behind = self._newer + sum(sizes[middle:]) + behind_it
            if behind <= skip:
                passed, unindexed, position, high = behind, behind_it, candidate, middle
            else:
                low = middle + 1
        older = position.older(self._partition.organization_id)
        wanted = {"$and": [self._wanted, older]}
        return [Selection(wanted, skip - passed, limit, self._index)]

    async def _find_buckets(self) -> None:
        states = [
            state
            for state in STATES
            if self._wanted.get("is_generated") in (None, state.is_generated)
            and self._wanted.get("is_approved") in (None, state.is_approved)
        ]
        buckets = await self._counts.buckets(self._session, self._partition, states)
        positions = [each.position for each in buckets]
        ends = [*positions[1:], END]
        first = bisect_left(positions, self._begin)
        whole = [number for number in range(first, len(buckets)) if ends[number] <= self._end]
        if whole:
            self._buckets = buckets[first : whole[-1] + 1]
            self._buckets_end = ends[whole[-1]]

    async def _count(self, wanted: Document, index: str | None, **options: int) -> int:
        hint = {"hint": index} if index else {}
        return await self._trajectories.count_documents(
            wanted, session=self._session, **hint, **options
        )

    async def _count_between(self, begin: Position, end: Position) -> int:
        """How many there are from a position on, before another; those not indexed included."""
        if begin >= end:
            return 0
        organization_id = self._partition.organization_id
        bounds = [begin.not_older(organization_id), end.older(organization_id)]
        return await self._count({"$and": [self._wanted, *bounds]}, self._index)

    async def _count_unindexed(self, begin: Position, end: Position, **options: int) -> int:
        """How many there are from a position on, before another, that no bucket counts yet."""
        organization_id = self._partition.organization_id
        bounds = [begin.not_older(organization_id), end.older(organization_id)]
        new = marked_new(self._known)
        return await self._count({"$and": [self._wanted, new, *bounds]}, "unindexed", **options)


def _index(wanted: Document) -> str | None:
    """The MongoDB index that has what the filter finds in the list's order.

    Left to itself, MongoDB tries several, which takes long where much is skipped or counted.  Only
    with a time of update it may choose: reading on that and sorting can be the best.
    """
    if "updated_at" in wanted:
        return None
    for field, index in (
        ("run_id", "newest_of_run"),
        ("workflow_id", "newest_of_workflow"),
        ("is_generated", "newest_generated"),
        ("is_approved", "newest_approved"),
    ):
        if field in wanted:
            return index
    return "newest"


def _bounds(wanted: Document) -> tuple[Position, Position]:
    """Where a filter finds trajectories: from the first position on, and before the second."""
    created = wanted.get("created_at", {})
    begin, end = BEGINNING, END
    if "$gte" in created:
        begin = Position.of(created["$gte"], UUID(int=0))
    if "$lte" in created:
        try:
            end = Position.of(created["$lte"] + timedelta(milliseconds=1), UUID(int=0))
        except OverflowError:
            end = END
    return begin, end
