"""Trajectories, each of one organization: made, changed, read and deleted.

Their free-form parts are kept as JSON text, not as BSON: any key and any number comes back as it
was, and an answer is put together by copying bytes.  The steps are in the document, until appended
ones outgrow it: then they move to the collection of parts (``trajectory_parts``).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.resources.trajectories import (
    MAX_NAME_CHARACTERS,
    ChangedTrajectory,
    NewTrajectory,
)
from schemas.values.json_texts import JsonObjects
from schemas.values.times import whole_milliseconds
from server.store.errors import NotFound, WrongState
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now
from server.store.trajectories.catalogue import NEW, TrajectoryCatalogue
from server.store.trajectories.documents import (
    NO_STEPS,
    NO_VALUES,
    Segment,
    StoredTrajectory,
    document_of,
    new_trajectory,
    stored_trajectory,
)
from server.store.trajectories.parts import PartStore
from server.store.trajectories.search import search_text
from server.store.trajectories.states import refused_change, refused_steps
from server.store.versions import Versions, check_version, first_version
from server.store.workflows import StoredWorkflow, WorkflowStore

INLINE_BYTES: Final = 1024 * 1024
"""Steps are appended in the document for as long as those in it have no more bytes than this."""

_ROOMY_BYTES: Final = 12 * 1024 * 1024
"""Up to this estimate a changed document surely fits, with all that it is found by."""

_COPY_MARK: Final = " (copy)"

_LAST_UPDATED_FIRST: Final = [("updated_at", -1), ("created_at", -1), ("_id", -1)]
_WITHOUT_STEPS: Final = {"trajectory_data": False, "pieces": False}


class TrajectoryStore:
    """Every method sees the trajectories of the organization it is given, and no others.

    Those that take a session are parts of a transaction, and raise what the driver raises.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._trajectories = database.collection("trajectories")
        self._parts = PartStore(database)
        self._catalogue = TrajectoryCatalogue(database)

    async def create(
        self, organization_id: UUID, user_id: UUID | None, new: NewTrajectory
    ) -> StoredTrajectory:
        """Keep a new trajectory, or an imported one with its own id and times.

        Raises AlreadyExists where an imported id is taken, TooLarge above 16 MiB in all.
        """
        trajectory = new_trajectory(organization_id, user_id, new)
        async with self._database.operation():
            await self.insert(trajectory)
        return trajectory

    async def insert(self, trajectory: StoredTrajectory, session: Session | None = None) -> None:
        """Keep a trajectory that is not there yet.  Raises TooLarge above 16 MiB in all."""
        document = document_of(trajectory, {**_search_fields(trajectory), **NEW})
        self._database.check_size(document, _size_of_texts(trajectory))
        await self._trajectories.insert_one(document, session=session)

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

    async def change(
        self,
        organization_id: UUID,
        trajectory_id: UUID,
        change: ChangedTrajectory,
        versions: Versions = None,
    ) -> StoredTrajectory:
        """Change what is named, and nothing else; the trajectory as it is then.

        Raises NotFound, VersionMismatch, WrongState, or TooLarge above 16 MiB in all.
        """

        async def work(session: Session) -> StoredTrajectory:
            before = await self._head(session, organization_id, trajectory_id, versions)
            standing = stored_trajectory(before)
            if refusal := refused_change(standing, change):
                raise WrongState(refusal)
            fields = _changed_fields(standing, change)
            after = replace(standing, **fields)
            if fields.keys() & {"name", "description"}:
                fields |= _search_fields(after)
            if _size_of_texts(after) + before["inline_size"] > _ROOMY_BYTES:
                fields |= await self._spilled(session, before)
            return stored_trajectory(await self._update(session, before, fields))

        return await in_transaction(self._database, work)

    async def delete(
        self, organization_id: UUID, trajectory_id: UUID, versions: Versions = None
    ) -> None:
        """Delete a trajectory, and its steps wherever they are.

        Raises NotFound or VersionMismatch.
        """

        async def work(session: Session) -> None:
            before = await self._head(session, organization_id, trajectory_id, versions)
            await self._catalogue.withdraw(session, before)
            await self._trajectories.delete_one({"_id": before["_id"]}, session=session)
            segments = stored_trajectory(before).segments
            await self._parts.release(session, organization_id, segments)

        await in_transaction(self._database, work)

    async def append(
        self,
        session: Session,
        organization_id: UUID,
        trajectory_id: UUID,
        steps: JsonObjects,
        versions: Versions = None,
    ) -> StoredTrajectory:
        """Put steps behind those that are there; the trajectory then, without its steps' text.

        Raises NotFound, VersionMismatch, or WrongState where it is not pending generation.
        """
        before = await self._head(session, organization_id, trajectory_id, versions)
        if refusal := refused_steps(stored_trajectory(before)):
            raise WrongState(refusal)
        text = steps.text[1:-1]
        size = before["inline_size"] + len(text)
        fields: Document = {"step_count": before["step_count"] + steps.count}
        if size <= INLINE_BYTES:
            fields["inline_size"] = size
            return stored_trajectory(await self._update(session, before, fields, text))
        fields |= await self._spilled(session, before, text)
        return stored_trajectory(await self._update(session, before, fields, b""))

    async def duplicate(
        self,
        session: Session,
        organization_id: UUID,
        user_id: UUID | None,
        trajectory_id: UUID,
        name: str | None,
    ) -> StoredTrajectory:
        """Make a copy with an id and times of its own, not approved; it shares what was spilled.

        Raises NotFound, or TooLarge where its longer name is what does not fit any more.
        """
        found = await self._trajectories.find_one(
            {"_id": scoped_id(organization_id, trajectory_id)}, session=session
        )
        if found is None:
            raise NotFound("There is no such trajectory.")
        original, time = stored_trajectory(found), now()
        copy = replace(
            original,
            id=uuid4(),
            user_id=user_id,
            name=_copy_name(original.name) if name is None else name,
            is_approved=False,
            created_at=time,
            updated_at=time,
            version=first_version(time),
            own_segment=None,
        )
        await self._parts.share(session, organization_id, copy.segments)
        await self.insert(copy, session)
        return copy

    async def included(self, trajectory: StoredTrajectory) -> Sequence[StoredWorkflow]:
        """The workflow of one trajectory: one, or none if it is gone."""
        return await WorkflowStore(self._database).get_many(
            trajectory.organization_id, [trajectory.workflow_id]
        )

    async def _head(
        self, session: Session, organization_id: UUID, trajectory_id: UUID, versions: Versions
    ) -> Document:
        """The document without its steps, whose version must be one of those given."""
        found = await self._trajectories.find_one(
            {"_id": scoped_id(organization_id, trajectory_id)}, _WITHOUT_STEPS, session=session
        )
        if found is None:
            raise NotFound("There is no such trajectory.")
        check_version(found, versions)
        # One that is older than sizes are is spilled at the first occasion.
        found.setdefault("inline_size", _ROOMY_BYTES)
        return found

    async def _update(
        self, session: Session, before: Document, fields: Document, appended: bytes | None = None
    ) -> Document:
        """Write these fields, and a piece; the document then, without steps where it has a piece.

        Empty, a piece is only the sign that the answer is not about the steps.
        """
        time = max(now(), before["updated_at"])
        update: Document = {
            "$set": {
                "updated_at": time,
                **fields,
                **await self._catalogue.withdraw(session, before),
            },
            "$inc": {"version": 1},
            **({"$push": {"pieces": appended}} if appended else {}),
        }
        after: Document = await self._trajectories.find_one_and_update(
            {"_id": before["_id"]},
            update,
            projection=None if appended is None else _WITHOUT_STEPS,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        return after

    async def _spilled(self, session: Session, before: Document, text: bytes = b"") -> Document:
        """Move the steps in the document to its segment, and further ones; the changed fields."""
        whole = await self._trajectories.find_one({"_id": before["_id"]}, session=session)
        trajectory = stored_trajectory(whole or before)
        steps = [each for each in (*trajectory.inline_steps, memoryview(text)) if each]
        if not steps:
            return {}
        *shared, last = trajectory.segments or (Segment(uuid4(), 0, 0),)
        if last.parts and last.id != trajectory.own_segment:
            shared, last = [*shared, last], Segment(uuid4(), 0, 0)
        grown = await self._parts.append(session, trajectory.organization_id, last, steps)
        return {
            "trajectory_data": NO_STEPS,
            "pieces": [],
            "inline_size": 0,
            "segments": [segment.document() for segment in (*shared, grown)],
            "own_segment": grown.id,
        }


def _changed_fields(before: StoredTrajectory, change: ChangedTrajectory) -> Document:
    """The fields to write for a change."""
    fields: Document = {name: getattr(change, name) for name in change.model_fields_set}
    for name in ("dimensions", "original_input_values"):
        if name in fields:
            fields[name] = NO_VALUES if fields[name] is None else fields[name].text
    if "updated_at" in fields:
        fields["updated_at"] = whole_milliseconds(fields["updated_at"])
        if fields["updated_at"] < before.created_at:
            raise WrongState("updated_at must not be before its created_at")
    return fields


def _copy_name(name: str | None) -> str | None:
    return name and name[: MAX_NAME_CHARACTERS - len(_COPY_MARK)] + _COPY_MARK


def _search_fields(trajectory: StoredTrajectory) -> Document:
    return {"search": search_text(trajectory.id, trajectory.name, trajectory.description)}


def _size_of_texts(trajectory: StoredTrajectory) -> int:
    """A number of bytes that is never less than what they take in a document."""
    free_form = (
        trajectory.dimensions,
        trajectory.original_input_values,
        trajectory.trajectory_data or b"",
        *trajectory.pieces,
    )
    # A description is kept twice, once folded, with up to 4 bytes for a character; folding can
    # make three characters of one.
    return sum(map(len, free_form)) + 16 * len(trajectory.description or "")
