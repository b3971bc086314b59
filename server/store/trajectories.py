"""Trajectories, each of one organization: kept, found, and rendered as JSON.

Their free-form parts are kept as JSON text, not as BSON: any key and any number comes back as it
was, and an answer is put together by copying bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from schemas.json_texts import encode_json
from schemas.times import format_time, whole_milliseconds
from schemas.trajectories import ImportedTrajectory, NewTrajectory
from server.store.database import Database, Document, now, own_id, scoped_id
from server.store.workflows import WorkflowStore, render_included_workflow

_LAST_UPDATED_FIRST: Final = [("updated_at", -1), ("created_at", -1), ("_id", -1)]


@dataclass(frozen=True)
class StoredTrajectory:
    """A trajectory as it is kept; the free-form parts are JSON text."""

    id: UUID
    organization_id: UUID
    user_id: UUID | None
    workflow_id: UUID
    run_id: UUID | None
    name: str | None
    description: str | None
    is_approved: bool
    is_generated: bool
    step_count: int
    trajectory_data: bytes | None
    dimensions: bytes
    original_input_values: bytes
    created_at: datetime
    updated_at: datetime


def render_trajectory(
    trajectory: StoredTrajectory, included: Sequence[bytes] | None = None
) -> bytes:
    """The trajectory as a JSON object; with ``included``, rendered resources, where it is given."""
    head = encode_json(
        {
            "id": str(trajectory.id),
            "workflow_id": str(trajectory.workflow_id),
            "is_approved": trajectory.is_approved,
            "is_generated": trajectory.is_generated,
            "created_at": format_time(trajectory.created_at),
            "updated_at": format_time(trajectory.updated_at),
            "name": trajectory.name,
            "description": trajectory.description,
            "run_id": _text(trajectory.run_id),
            "user_id": _text(trajectory.user_id),
            "organization_id": str(trajectory.organization_id),
        }
    )
    parts = [
        head[:-1],
        b',"dimensions":',
        trajectory.dimensions,
        b',"original_input_values":',
        trajectory.original_input_values,
        b',"trajectory_data":',
        b"null" if trajectory.trajectory_data is None else trajectory.trajectory_data,
    ]
    if included is not None:
        parts += [b',"included":[', b",".join(included), b"]"]
    return b"".join([*parts, b"}"])


class TrajectoryStore:
    """Every method sees the trajectories of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")

    async def create(
        self, organization_id: UUID, user_id: UUID | None, new: NewTrajectory
    ) -> StoredTrajectory:
        """Keep a new trajectory, or an imported one with its own id and times.

        Raises AlreadyExists where an imported id is taken, TooLarge above 16 MiB in all.
        """
        trajectory = _new_trajectory(organization_id, user_id, new)
        document = _document(trajectory)
        self._database.check_size(document, _size_of_texts(trajectory))
        async with self._database.operation():
            await self._trajectories.insert_one(document)
        return trajectory

    async def get(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory | None:
        """The trajectory, or None."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {"_id": scoped_id(organization_id, trajectory_id)}
            )
        return None if found is None else stored_trajectory(found)

    async def latest(self, organization_id: UUID, workflow_id: UUID) -> StoredTrajectory | None:
        """The most recently updated one of the workflow that is generated and has a step."""
        async with self._database.operation():
            found = await self._trajectories.find_one(
                {
                    "organization_id": organization_id,
                    "workflow_id": workflow_id,
                    "is_generated": True,
                    "step_count": {"$gte": 1},
                },
                sort=_LAST_UPDATED_FIRST,
            )
        return None if found is None else stored_trajectory(found)

    async def included(self, trajectory: StoredTrajectory) -> Sequence[bytes]:
        """The workflow of one trajectory as rendered resources: one, or none if it is gone."""
        workflows = await WorkflowStore(self._database).get_many(
            trajectory.organization_id, [trajectory.workflow_id]
        )
        return [render_included_workflow(workflow) for workflow in workflows]


def _new_trajectory(
    organization_id: UUID, user_id: UUID | None, new: NewTrajectory
) -> StoredTrajectory:
    own, created_at, updated_at = uuid4(), now(), None
    if isinstance(new, ImportedTrajectory):
        own = new.id or own
        updated_at = new.updated_at and whole_milliseconds(new.updated_at)
        # Nothing is updated before it is created, where only one of the two is known either.
        created_at = whole_milliseconds(new.created_at or min(created_at, updated_at or created_at))
    data, inputs = new.trajectory_data, new.original_input_values
    return StoredTrajectory(
        id=own,
        organization_id=organization_id,
        user_id=user_id,
        workflow_id=new.workflow_id,
        run_id=new.run_id,
        name=new.name,
        description=new.description,
        is_approved=new.is_approved,
        is_generated=new.generated,
        step_count=new.step_count,
        trajectory_data=None if data is None else data.text,
        dimensions=new.dimensions.text,
        original_input_values=b"{}" if inputs is None else inputs.text,
        created_at=created_at,
        updated_at=updated_at or created_at,
    )


def _document(trajectory: StoredTrajectory) -> Document:
    document: dict[str, Any] = {**vars(trajectory)}
    own = document.pop("id")
    texts = (str(own), trajectory.name, trajectory.description)
    return {
        "_id": scoped_id(trajectory.organization_id, own),
        **document,
        "search": [text.casefold() for text in texts if text is not None],
    }


def _size_of_texts(trajectory: StoredTrajectory) -> int:
    """A rough number of bytes, never less than half of what they take in a document."""
    free_form = (
        trajectory.dimensions,
        trajectory.original_input_values,
        trajectory.trajectory_data or b"",
    )
    # A description is kept twice, once folded, with up to 4 bytes for a character; folding can
    # make three characters of one.
    return sum(map(len, free_form)) + 8 * len(trajectory.description or "")


def stored_trajectory(document: Document) -> StoredTrajectory:
    """The trajectory in a document of the database."""
    fields = dict(document)
    del fields["search"]
    return StoredTrajectory(id=own_id(fields.pop("_id")), **fields)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
