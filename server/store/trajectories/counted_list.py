"""A list without a search: a partition of the trajectories, counted by its buckets.

Filters that the counts do not know (a run, a time of update, some machines, an author, a review)
are counted on their index, and there ``skip`` goes along it, as in the orders by name and by time
of update.
"""

from bisect import bisect_left
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from schemas.resources.trajectories import TrajectorySort
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id
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

_UNCOUNTED_FILTERS: Final = {"run_id", "updated_at", "machine_id", "authors", "review.state"}

_EITHER: Final = {"$in": [False, True]}
_ANY_STATE: Final[Document] = {"is_generated": _EITHER, "is_approved": _EITHER}
"""Makes MongoDB merge what an index has of each state, each part of which is in order."""


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list: by these fields, one after another, all in one direction.

    ``index`` begins the names of the indexes that have it; None by creation, as the counts do.
    """

    fields: tuple[str, ...]
    index: str | None
    is_descending: bool

    @classmethod
    def of(cls, sort: TrajectorySort) -> "Order":
        """The order that a query names; what is equal in that is ordered by creation and id."""
        first, index = {
            "created_at": ([], None),
            "updated_at": (["updated_at"], "by_update"),
            "name": (["name_order"], "by_name"),
        }[sort.removeprefix("-")]
        return cls((*first, "created_at", "_id"), index, sort.startswith("-"))

    @property
    def sort(self) -> list[tuple[str, int]]:
        """The order as MongoDB takes it."""
        direction = -1 if self.is_descending else 1
        return [(field, direction) for field in self.fields]


NEWEST_FIRST: Final = Order.of("-created_at")


class Selection(NamedTuple):
    """What to read for a page: ``limit`` of what the filter finds in its order, after ``skip``.

    ``hint`` is the MongoDB index to read on; without one, MongoDB chooses.
    """

    filter: Document
    skip: int
    limit: int
    hint: str | None = None


class CountedList:
    """The trajectories that a filter without a search finds, in one snapshot."""

    def __init__(
        self, database: Database, session: Session, wanted: Document, order: Order
    ) -> None:
        self._trajectories = database.collection("trajectories")
        self._counts = TrajectoryCounts(database)
        self._session = session
        self._wanted = {**_ANY_STATE, **wanted} if "updated_at" in wanted else wanted
        self._order = order
        self._total = 0
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
        self._total = await self._find_total()
        return self._total

    async def _find_total(self) -> int:
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
        """Where the page is; call ``total`` first."""
        if self._order.index is not None:
            of_workflow = "_of_workflow" if "workflow_id" in self._wanted else ""
            wanted = {**_ANY_STATE, **self._wanted}
            return [Selection(wanted, skip, limit, self._order.index + of_workflow)]
        if self._order.is_descending:
            return [await self._newest_first(skip, limit)]
        if skip <= MAX_BUCKET or not self._buckets:
            return [Selection(self._wanted, skip, limit, self._index)]
        begin = await self._position(self._total - skip - 1)
        newer = begin.not_older(self._partition.organization_id)
        return [Selection({"$and": [self._wanted, newer]}, 0, limit, self._index)]

    async def _position(self, skip: int) -> Position:
        """The place of the trajectory behind so many that are newer."""
        selection = await self._newest_first(skip, 1)
        found = await self._trajectories.find_one(
            selection.filter,
            {"created_at": True},
            sort=NEWEST_FIRST.sort,
            skip=selection.skip,
            hint=selection.hint,
            session=self._session,
        )
        if found is None:
            raise AssertionError("there are as many in a snapshot as were counted in it")
        return Position.of(found["created_at"], own_id(found["_id"]))

    async def _newest_first(self, skip: int, limit: int) -> Selection:
        """Where a page of the newest first is, counted from a bucket near it."""
        if skip <= max(MAX_BUCKET, self._newer) or not self._buckets:
            return Selection(self._wanted, skip, limit, self._index)
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
        return Selection(wanted, skip - passed, limit, self._index)

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
    if isinstance(wanted.get("machine_id"), str):
        return "newest_of_machine"
    for field, index in (
        ("run_id", "newest_of_run"),
        ("authors", "newest_of_author"),
        ("workflow_id", "newest_of_workflow"),
        ("review.state", "newest_of_review"),
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
