"""The queries of lists and exports: which trajectories, how many, and each, one after another."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from schemas.resources.trajectories import ExportQuery, TrajectoryQuery
from schemas.steps.reviews import authors_with
from schemas.values.times import whole_milliseconds
from server.store.mongodb.database import Database
from server.store.mongodb.documents import (
    QUICK_CODEC_OPTIONS,
    Document,
    encoded,
    scoped_id,
)
from server.store.mongodb.reading_ahead import batches_read_ahead
from server.store.trajectories.counted_list import CountedList, Order, Selection
from server.store.trajectories.documents import (
    LIGHT_FIELDS,
    LISTED_FIELDS,
    ListedTrajectory,
    StoredTrajectory,
    listed_trajectory,
    stored_trajectory,
)
from server.store.trajectories.matches import TrajectoryMatches

_OLDEST_FIRST: Final = [("created_at", 1), ("_id", 1)]
_EXPORT_BATCH: Final = 32

LIST_BATCH: Final = 200
"""So many are read at once, and the next ones while these are written."""

_SMALL_BYTES: Final = 2 * 1024 * 1024
"""While a batch with so many bytes of steps is written, no other is read."""


class TrajectoryListing:
    """One page of a list: ``open`` it, and read its ``batches`` once.

    ``total`` is how many the query finds on all its pages, at the moment when it was opened.
    """

    def __init__(
        self,
        database: Database,
        organization_id: UUID,
        query: TrajectoryQuery,
        total: int,
        selections: Sequence[Selection],
    ) -> None:
        self.total = total
        self._database = database
        self._organization_id = organization_id
        self._order = Order.of(query.sort)
        self._fields = LISTED_FIELDS if query.steps else LIGHT_FIELDS
        self._selections = selections

    @classmethod
    async def open(
        cls,
        database: Database,
        organization_id: UUID,
        query: TrajectoryQuery,
        within: Collection[str] | None = None,
    ) -> Self:
        """Count what the query finds, and find where its page is; ``within`` as in the store."""
        wanted = trajectory_filter(organization_id, query, within)
        order = Order.of(query.sort)
        async with database.snapshot() as session:
            found = (
                CountedList(database, session, wanted, order)
                if query.search is None
                else TrajectoryMatches(database, session, wanted, query.search, order)
            )
            total = await found.total()
            selections = await found.page(query.skip, query.limit) if query.skip < total else []
        return cls(database, organization_id, query, total, selections)

    async def batches(self) -> AsyncIterator[list[ListedTrajectory]]:
        """All trajectories of the page, in their order; no more than two batches are in memory."""
        collection = self._database.collection("trajectories").with_options(QUICK_CODEC_OPTIONS)
        for selection in self._selections:
            cursor = collection.find(
                encoded(selection.filter),
                self._fields,
                sort=self._order.sort,
                skip=selection.skip,
                limit=selection.limit,
                hint=selection.hint,
                batch_size=LIST_BATCH,
            )
            async with aclosing(
                batches_read_ahead(self._database, cursor, _may_read_ahead)
            ) as batches:
                async for batch in batches:
                    yield [listed_trajectory(self._organization_id, each) for each in batch]


def _may_read_ahead(documents: Sequence[Document]) -> bool:
    """Whether more may follow and there is memory for it."""
    if len(documents) < LIST_BATCH:
        return False
    size: int = sum(document.get("inline_size", 0) for document in documents)
    return size < _SMALL_BYTES


async def exported_trajectories(
    database: Database,
    organization_id: UUID,
    query: ExportQuery,
    within: Collection[str] | None = None,
) -> AsyncGenerator[StoredTrajectory, None]:
    """All trajectories that the query finds, oldest first; ``within`` as in the store."""
    wanted = export_filter(organization_id, query) | of_machines(within)
    cursor = database.collection("trajectories").find(
        wanted, sort=_OLDEST_FIRST, batch_size=_EXPORT_BATCH
    )
    async for document in database.documents(cursor):
        yield stored_trajectory(document)


def of_machines(within: Collection[str] | None) -> Document:
    """The filter for what was recorded on these machines, or on none; of all where it is None."""
    return {} if within is None else {"machine_id": {"$in": [None, *within]}}


def trajectory_filter(
    organization_id: UUID, query: TrajectoryQuery, within: Collection[str] | None = None
) -> Document:
    """The MongoDB filter for all of a query but its search; ``within`` as in the store."""
    wanted: Document = {"organization_id": organization_id, **of_machines(within)}
    if (machine_id := query.machine_id) is not None:
        is_within = within is None or machine_id in within
        wanted["machine_id"] = machine_id if is_within else {"$in": []}
    if query.author_id is not None:
        wanted["authors"] = {"$in": authors_with(query.author_id)}
    for field in ("workflow_id", "run_id", "is_approved"):
        value = getattr(query, field)
        if value is not None:
            wanted[field] = value
    if query.generated is not None:
        wanted["is_generated"] = query.generated
    if query.review_state not in (None, "pending"):
        # What is open has no review.
        wanted["review.state"] = None if query.review_state == "open" else query.review_state
    for field, start, end in (
        ("created_at", query.created_at_from, query.created_at_to),
        ("updated_at", query.updated_at_from, query.updated_at_to),
    ):
        bounds: dict[str, datetime] = {}
        # Stored times are whole milliseconds: what lies between two of them rounds inwards.
        if start is not None:
            bounds["$gte"] = whole_milliseconds(start, round_up=True)
        if end is not None:
            bounds["$lte"] = whole_milliseconds(end)
        if bounds:
            wanted[field] = bounds
    return wanted


def export_filter(organization_id: UUID, query: ExportQuery) -> Document:
    """The MongoDB filter for an export."""
    wanted: Document = {"organization_id": organization_id}
    for field in ("workflow_id", "is_generated"):
        value = getattr(query, field)
        if value is not None:
            wanted[field] = value
    if query.after_created_at is not None and query.after_id is not None:
        time = whole_milliseconds(query.after_created_at)
        wanted["created_at"] = {"$gte": time}
        wanted["$or"] = [
            {"created_at": {"$gt": time}},
            {"_id": {"$gt": scoped_id(organization_id, query.after_id)}},
        ]
    return wanted
