"""A page of trajectories as JSON text, written while it is read from the store."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from itertools import groupby
from uuid import UUID

from schemas.resources.trajectories import TrajectoryQuery
from server.store.trajectories.documents import ListedTrajectory
from server.store.trajectories.listing import TrajectoryListing
from server.store.trajectories.parts import PartStore
from server.store.trajectories.workflows import WorkflowStore
from server.trajectories.rendering import (
    joined,
    render_included_workflow,
    trajectory_chunks,
    trajectory_texts,
)


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
    workflow_ids: dict[str, None] = {}
    comma = b""
    async for batch in listing.batches():
        workflow_ids |= dict.fromkeys(each.fields["workflow_id"] for each in batch)
        for are_here, run in groupby(batch, lambda each: not each.segments):
            if are_here:
                yield comma
                for chunk in joined(_separated(run)):
                    yield chunk
            else:
                for trajectory in run:
                    yield comma
                    async for chunk in trajectory_chunks(parts, trajectory):
                        yield chunk
                    comma = b","
            comma = b","
    if not query.include:
        yield b"]}"
        return
    found = await workflows.get_many(organization_id, map(UUID, workflow_ids))
    included = [render_included_workflow(workflow) for workflow in found]
    yield b'],"included":[' + b",".join(included) + b"]}"


def _separated(
    trajectories: Iterable[ListedTrajectory],
) -> Iterator[list[bytes | memoryview]]:
    """The texts of trajectories that have no segments, with commas between them."""
    comma = b""
    for trajectory in trajectories:
        yield [comma, *trajectory_texts(trajectory)]
        comma = b","
