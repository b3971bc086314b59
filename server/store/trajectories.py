"""Trajectories, each of one organization: kept, found, and rendered as JSON.

Their free-form parts are kept as JSON text, not as BSON: any key and any number comes back as it
was, and an answer is put together by copying bytes.
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from schemas.json_texts import encode_json
from schemas.times import format_time, whole_milliseconds
from schemas.trajectories import ImportedTrajectory, NewTrajectory, TrajectoryQuery
from server.store.database import Database, Document, now, own_id, scoped_id
from server.store.workflows import WorkflowStore, render_included_workflow

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]
_LAST_UPDATED_FIRST: Final = [("updated_at", -1), *_NEWEST_FIRST]

# ASCII that may mean something to a regular expression, or to the text that carries it: BSON ends
# a pattern at NUL.  Everything else stands for itself.
_SPECIAL: Final = re.compile(r"[^0-9A-Za-z\u0080-\U0010ffff]")


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


class TrajectoryListing:
    """One page of a list, in the making.

    The caller's order: ``total`` at any time, ``items`` once and to its end, then ``included``.
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

    async def items(self) -> AsyncIterator[bytes]:
        """Each trajectory of the page as JSON, newest first; no more than a batch is in memory."""
        cursor = self._trajectories.find(
            self._filter,
            sort=_NEWEST_FIRST,
            skip=self._query.skip,
            limit=self._query.limit,
        )
        async for document in self._database.documents(cursor):
            trajectory = _trajectory(document)
            self._workflow_ids[trajectory.workflow_id] = None
            yield render_trajectory(trajectory)

    async def included(self) -> list[bytes] | None:
        """The related resources of the items, as JSON; None where the query asks for none."""
        if not self._query.include:
            return None
        workflows = await WorkflowStore(self._database).get_many(
            self._organization_id, self._workflow_ids
        )
        return [render_included_workflow(workflow) for workflow in workflows]


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
        return None if found is None else _trajectory(found)

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
        return None if found is None else _trajectory(found)

    def list(self, organization_id: UUID, query: TrajectoryQuery) -> TrajectoryListing:
        """The page that a query asks for; nothing is read yet."""
        return TrajectoryListing(self._database, organization_id, query)

    async def included(self, trajectory: StoredTrajectory) -> Sequence[bytes]:
        """The workflow of one trajectory as rendered resources: one, or none if it is gone."""
        workflows = await WorkflowStore(self._database).get_many(
            trajectory.organization_id, [trajectory.workflow_id]
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


def _trajectory(document: Document) -> StoredTrajectory:
    fields = dict(document)
    del fields["search"]
    return StoredTrajectory(id=own_id(fields.pop("_id")), **fields)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
