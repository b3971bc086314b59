"""Lists of trajectories: which ones, how many, and each, one after another."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Final, Self
from uuid import UUID

from schemas.resources.trajectories import TrajectoryQuery
from schemas.values.times import whole_milliseconds
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.trajectories.documents import StoredTrajectory, stored_trajectory
from server.store.trajectories.matches import TrajectoryMatches
from server.store.trajectories.rows import NEWEST_FIRST, CountedRow, Selection
from server.store.workflows import WorkflowStore, render_included_workflow

# What lists and searches are made from is in no answer.
_ANSWERED: Final = {"search": False, "uncatalogued": False}


class TrajectoryListing:
    """One page of a list: ``open`` it, read ``trajectories`` once to their end, then ``included``.

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
        self._query = query
        self._selections = selections
        # A dictionary, as it remembers the order of first mention.
        self._workflow_ids: dict[UUID, None] = {}

    @classmethod
    async def open(cls, database: Database, organization_id: UUID, query: TrajectoryQuery) -> Self:
        """Count what the query finds, and find where its page is."""
        wanted = trajectory_filter(organization_id, query)
        async with database.snapshot() as session:
            found = (
                CountedRow(database, session, wanted)
                if query.search is None
                else TrajectoryMatches(database, session, wanted, query.search)
            )
            total = await found.total()
            selections = await found.page(query.skip, query.limit) if query.skip < total else []
        return cls(database, organization_id, query, total, selections)

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
                trajectory = stored_trajectory(document)
                self._workflow_ids[trajectory.workflow_id] = None
                yield trajectory

    async def included(self) -> list[bytes] | None:
        """The related resources of the items, as JSON; None where the query asks for none."""
        if not self._query.include:
            return None
        workflows = await WorkflowStore(self._database).get_many(
            self._organization_id, self._workflow_ids
        )
        return [render_included_workflow(workflow) for workflow in workflows]


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
