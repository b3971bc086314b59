"""All trajectories of an organization, oldest first, as lines that an import takes."""

from collections.abc import AsyncGenerator
from typing import Final
from uuid import UUID

from schemas.resources.trajectories import ExportQuery
from schemas.values.times import whole_milliseconds
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.trajectories.documents import stored_trajectory
from server.store.trajectories.rendering import line_pieces

_OLDEST_FIRST: Final = [("created_at", 1), ("_id", 1)]
_BATCH = 32


async def exported_pieces(
    database: Database, organization_id: UUID, query: ExportQuery
) -> AsyncGenerator[bytes, None]:
    """The lines one after another, piece by piece.

    In the order of their creation, so that a new one comes at the end, and one who got no further
    than some line goes on behind it.  Raises NotFound in the middle of a line whose trajectory is
    deleted meanwhile.
    """
    trajectories = database.collection("trajectories")
    wanted = export_filter(organization_id, query)
    cursor = trajectories.find(wanted, sort=_OLDEST_FIRST, batch_size=_BATCH)
    async for document in database.documents(cursor):
        async for piece in line_pieces(database, stored_trajectory(document)):
            yield piece


def export_filter(organization_id: UUID, query: ExportQuery) -> Document:
    """The MongoDB filter for a query."""
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
