"""A page of trajectories as JSON text, written while it is read from the store."""

from collections.abc import AsyncGenerator
from uuid import UUID

from schemas.resources.trajectories import TrajectoryQuery
from server.store.trajectories.listing import TrajectoryListing
from server.store.trajectories.parts import PartStore
from server.store.trajectories.workflows import WorkflowStore
from server.trajectories.rendering import render_included_workflow, trajectory_chunks


async def page_chunks(
    listing: TrajectoryListing,
    parts: PartStore,
    workflows: WorkflowStore,
    organization_id: UUID,
    query: TrajectoryQuery,
) -> AsyncGenerator[bytes, None]:
    """The page that ``listing`` found for the query, chunk by chunk."""
    facts = (listing.total, query.skip, query.limit)
    yield b'{"total":%d,"skip":%d,"limit":%d,"items":[' % facts
    # A dictionary, as it remembers the order of first mention.
    workflow_ids: dict[UUID, None] = {}
    comma = b""
    async for trajectory in listing.trajectories():
        workflow_ids[trajectory.workflow_id] = None
        yield comma
        async for chunk in trajectory_chunks(parts, trajectory):
            yield chunk
        comma = b","
    if not query.include:
        yield b"]}"
        return
    found = await workflows.get_many(organization_id, workflow_ids)
    included = [render_included_workflow(workflow) for workflow in found]
    yield b'],"included":[' + b",".join(included) + b"]}"
