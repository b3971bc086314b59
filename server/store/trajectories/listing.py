"""The queries of lists and exports: which trajectories, how many, and each, one after another."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from schemas.resources.trajectories import ExportQuery, TrajectoryQuery
from schemas.values.times import whole_milliseconds
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.trajectories.counted_list import NEWEST_FIRST, CountedList, Selection
from server.store.trajectories.documents import StoredTrajectory, stored_trajectory
from server.store.trajectories.matches import TrajectoryMatches

# What lists and searches are made from is in no answer.
_ANSWERED: Final = {"search": False, "uncatalogued": False}

_OLDEST_FIRST: Final = [("created_at", 1), ("_id", 1)]
_EXPORT_BATCH: Final = 32


class TrajectoryListing:
    """One page of a list: ``open`` it, and read ``trajectories`` once.

    ``total`` is how many the query finds on all its pages, at the moment when it was opened.
    """

    def __init__(self, database: Database, total: int, selections: Sequence[Selection]) -> None:
        self.total = total
        self._database = database
        self._selections = selections

    @classmethod
    async def open(cls, database: Database, organization_id: UUID, query: TrajectoryQuery) -> Self:
        """Count what the query finds, and find where its page is."""
        wanted = trajectory_filter(organization_id, query)
        async with database.snapshot() as session:
            found = (
                CountedList(database, session, wanted)
                if query.search is None
                else TrajectoryMatches(database, session, wanted, query.search)
            )
            total = await found.total()
            selections = await found.page(query.skip, query.limit) if query.skip < total else []
        return cls(database, total, selections)

    async def trajectories(self) -> AsyncIterator[StoredTrajectory]:
        """Each trajectory of the page, newest first; no more than a batch is in memory."""
        collection = self._database.collection("trajectories")
        for selection in self._selections:
            cursor = collection.find(
                selection.filter,
                _ANSWERED,
                sort=NEWEST_FIRST,
                skip=selection.skip,
                limit=selection.limit,
                hint=selection.hint,
            )
            async for document in self._database.documents(cursor):
                yield stored_trajectory(document)


async def exported_trajectories(
    database: Database, organization_id: UUID, query: ExportQuery
) -> AsyncGenerator[StoredTrajectory, None]:
    """All trajectories that the query finds, oldest first."""
    cursor = database.collection("trajectories").find(
        export_filter(organization_id, query), sort=_OLDEST_FIRST, batch_size=_EXPORT_BATCH
    )
    async for document in database.documents(cursor):
        yield stored_trajectory(document)


def trajectory_filter(organization_id: UUID, query: TrajectoryQuery) -> Document:
    """The MongoDB filter for all of a query but its search."""
    wanted: Document = {"organization_id": organization_id}
    for field in ("workflow_id", "run_id", "is_approved", "is_generated"):
        value = getattr(query, field)
        if value is not None:
            wanted[field] = value
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
