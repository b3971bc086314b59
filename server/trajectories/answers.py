"""What a handler sends and nothing more: JSON text, and what names its version."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.http.entity_tags import version_tag
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.store.trajectories.workflows import StoredWorkflow
from server.trajectories.rendering import (
    render_included_workflow,
    render_trajectory,
    rendered_size,
    trajectory_chunks,
)


@dataclass(frozen=True)
class KeyedAnswer:
    """The answer to a request that makes something; under an idempotency key there is only one.

    ``is_replayed`` is whether an earlier request with that key was answered with it.
    """

    id: UUID
    tag: str
    body: bytes
    is_replayed: bool


class TrajectoryAnswer:
    """A trajectory as JSON text, with the workflow that it belongs to where that is asked for."""

    def __init__(
        self,
        parts: PartStore,
        stored: StoredTrajectory,
        workflows: Sequence[StoredWorkflow] | None = None,
    ) -> None:
        """``workflows`` are what is included; None where nothing was asked for."""
        self._parts = parts
        self._stored = stored
        self._included = None
        self.id = stored.id
        self.tag = version_tag(stored.version)
        if workflows is not None:
            self._included = [render_included_workflow(workflow) for workflow in workflows]
            self.tag = version_tag(stored.version, sum(each.version for each in workflows))

    @property
    def size(self) -> int:
        """How many bytes the text has."""
        return rendered_size(self._stored, self._included)

    @property
    def is_in_memory(self) -> bool:
        """Whether nothing of it has to be read from the store any more."""
        return not self._stored.segments

    def whole(self) -> bytes:
        """The whole text, of a trajectory that is in memory."""
        return render_trajectory(self._stored, self._included)

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The text of any trajectory, chunk by chunk.

        Raises NotFound in the middle where the trajectory is deleted meanwhile.
        """
        return trajectory_chunks(self._parts, self._stored, self._included)
