"""All trajectories of an organization, oldest first, as lines that an import takes."""

from collections.abc import AsyncGenerator, Collection
from uuid import UUID

from schemas.resources.trajectories import ExportQuery
from server.store.trajectories.store import TrajectoryStore
from server.trajectories.rendering import line_chunks


async def export_chunks(
    store: TrajectoryStore,
    organization_id: UUID,
    query: ExportQuery,
    within: Collection[str] | None,
) -> AsyncGenerator[bytes, None]:
    """The lines one after another, chunk by chunk.

    In the order of their creation, so that a new one comes at the end, and one who got no further
    than some line goes on behind it.  Raises NotFound in the middle of a line whose trajectory is
    deleted meanwhile.
    """
    async for trajectory in store.exported(organization_id, query, within):
        async for chunk in line_chunks(store.parts, trajectory):
            yield chunk
