"""What a handler sends and nothing more: JSON text, and what names its version."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.http.entity_tags import version_tag
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.store.trajectories.workflows import StoredWorkflow
from server.trajectories.rendering import (
    render_head,
    render_included_workflow,
    render_trajectory,
    rendered_size,
    trajectory_chunks,
)


@dataclass(frozen=True)
class KeyedAnswer:
    """The answer to a request that makes something; under an idempotency key there is only one.

    ``is_replayed`` is whether an earlier request with that key was answered with it,
    ``has_withdrawn`` whether what was done has ended an approval, and ``machine_id`` the machine
    that a trajectory was recorded on.
    """

    id: UUID
    tag: str
    body: bytes
    is_replayed: bool
    has_withdrawn: bool = False
    machine_id: str | None = None


def head_result(stored: StoredTrajectory, has_withdrawn: bool = False) -> dict[str, Any]:
    """What a key's record keeps of an answer that is a trajectory without its steps."""
    return {
        "id": stored.id,
        "tag": version_tag(stored.version),
        "head": render_head(stored),
        "has_withdrawn": has_withdrawn,
        "machine_id": stored.machine_id,
    }


def head_answer(result: dict[str, Any], is_replayed: bool) -> KeyedAnswer:
    """The answer that such a record keeps."""
    return KeyedAnswer(
        result["id"],
        result["tag"],
        result["head"],
        is_replayed,
        result.get("has_withdrawn", False),
        result.get("machine_id"),
    )


class TrajectoryAnswer:
    """A trajectory as JSON text, with the workflow that it belongs to where that is asked for."""

    def __init__(
        self,
        parts: PartStore,
        stored: StoredTrajectory,
        workflows: Sequence[StoredWorkflow] | None = None,
        *,
        has_withdrawn: bool = False,
    ) -> None:
        """``workflows`` are what is included; None where nothing was asked for.

        ``has_withdrawn`` is whether what was done has ended an approval.
        """
        self._parts = parts
        self._stored = stored
        self._included = None
        self.has_withdrawn = has_withdrawn
        self.id = stored.id
        self.machine_id = stored.machine_id
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
