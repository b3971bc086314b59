"""Lists of trajectories: which ones, how many, and each, one after another."""

import re
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Final
from uuid import UUID

from schemas.times import whole_milliseconds
from schemas.trajectories import TrajectoryQuery
from server.store.database import Database, Document
from server.store.trajectory_documents import StoredTrajectory, stored_trajectory
from server.store.workflows import WorkflowStore, render_included_workflow

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]

# ASCII that may mean something to a regular expression, or to the text that carries it: BSON ends
# a pattern at NUL.  Everything else stands for itself.
_SPECIAL: Final = re.compile(r"[^0-9A-Za-z\u0080-\U0010ffff]")


class TrajectoryListing:
    """One page of a list, in the making.

    The caller's order: ``total`` at any time, ``trajectories`` once and to its end, then
    ``included``.
    """

    def __init__(self, database: Database, organization_id: UUID, query: TrajectoryQuery) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._organization_id = organization_id
        self._query = query
        self._filter = trajectory_filter(organization_id, query)
        # A dictionary, as it remembers the order of first mention.
        self._workflow_ids: dict[UUID, None] = {}

    async def total(self) -> int:
        """How many trajectories the query finds on all its pages."""
        async with self._database.operation():
            return await self._trajectories.count_documents(self._filter)

    async def trajectories(self) -> AsyncIterator[StoredTrajectory]:
        """Each trajectory of the page, newest first; no more than a batch is in memory."""
        cursor = self._trajectories.find(
            self._filter,
            sort=_NEWEST_FIRST,
            skip=self._query.skip,
            limit=self._query.limit,
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
    """The MongoDB filter for a query; what the user typed is only ever a value in it."""
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
    if query.search is not None:
        wanted["search"] = {"$regex": substring_pattern(query.search)}
    return wanted


def substring_pattern(text: str) -> str:
    """A regular expression (PCRE) that finds the text itself, folded, and nothing else."""
    return _SPECIAL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.casefold())
