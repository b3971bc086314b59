"""Trajectories inside a transaction: inserted, opened to be changed, appended to and deleted.

Their free-form parts are stored as JSON text, not as BSON: any key and any number comes back as it
was, and an answer is put together by copying bytes.  The steps are in the document, until appended
ones outgrow it: then they move to the collection of parts (``trajectory_parts``).

Everything here raises the driver's own errors, which say whether to try the transaction again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID, uuid4

from pymongo import ReturnDocument

from schemas.values.json_texts import JsonObjects
from server.errors import NotFound
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Collection, Document, scoped_id
from server.store.mongodb.transactions import Session
from server.store.times import now
from server.store.trajectories.documents import (
    NO_STEPS,
    Segment,
    StoredTrajectory,
    document_of,
    stored_trajectory,
)
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.keeping import pictures_in, pictures_until
from server.store.trajectories.marks import indexed_mark, new_mark
from server.store.trajectories.parts import PartStore
from server.store.trajectories.picture_uses import PictureUses
from server.store.trajectories.reviews import stored_review
from server.store.trajectories.search import name_order, search_text
from server.store.versions import Versions, check_version

INLINE_BYTES: Final = 1024 * 1024
"""Steps are appended in the document for as long as those in it have no more bytes than this."""

_CERTAINLY_FITS_BYTES: Final = 12 * 1024 * 1024
"""Up to this estimate a changed document surely fits, with all that it is found by."""

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

_WITHOUT_STEPS: Final = {"trajectory_data": False, "pieces": False}


class TrajectoryWrites:
    """The trajectories as one transaction reads and writes them."""

    def __init__(self, database: Database, session: Session) -> None:
        self._database = database
        self._session = session
        self._trajectories = database.collection("trajectories")
        self._parts = PartStore(database)
        self._uses = PictureUses(database, session)

    async def insert(self, trajectory: StoredTrajectory) -> None:
        """Store a trajectory that is not there yet.  Raises TooLarge above 16 MiB in all."""
        document = new_document(self._database, trajectory)
        await self._trajectories.insert_one(document, session=self._session)
        if pictures := pictures_in(trajectory.inline_steps):
            await self._uses.add(trajectory.organization_id, trajectory.id, pictures)

    async def insert_duplicate(self, trajectory: StoredTrajectory, original_id: UUID) -> None:
        """Store a trajectory that shares its segments of steps with the one it was copied from."""
        own = trajectory.organization_id
        await self._parts.share(self._session, own, trajectory.segments)
        document = new_document(self._database, trajectory)
        await self._trajectories.insert_one(document, session=self._session)
        if trajectory.has_pictures:
            await self._uses.copy(own, original_id, trajectory.id)

    async def get(self, organization_id: UUID, trajectory_id: UUID) -> StoredTrajectory:
        """The trajectory, to be read.  Raises NotFound."""
        found = await self._trajectories.find_one(
            {"_id": scoped_id(organization_id, trajectory_id)}, session=self._session
        )
        if found is None:
            raise NotFound("There is no such trajectory.")
        return stored_trajectory(found)

    async def open(
        self, organization_id: UUID, trajectory_id: UUID, versions: Versions
    ) -> "OpenTrajectory":
        """The trajectory, to be written.  Raises NotFound or VersionMismatch."""
        found = await self._trajectories.find_one(
            {"_id": scoped_id(organization_id, trajectory_id)},
            _WITHOUT_STEPS,
            session=self._session,
        )
        if found is None:
            raise NotFound("There is no such trajectory.")
        check_version(found, versions)
        return OpenTrajectory(self._database, self._session, found)

    async def mains(self, organization_id: UUID, workflow_ids: Iterable[UUID]) -> set[UUID]:
        """Those of these workflows that have a main trajectory."""
        return await mains(self._trajectories, organization_id, workflow_ids, self._session)

    async def refer_to_workflow(self, organization_id: UUID, workflow_id: UUID) -> bool:
        """Whether any trajectory is one of this workflow."""
        referring = {"organization_id": organization_id, "workflow_id": workflow_id}
        found = await self._trajectories.find_one(referring, {"_id": True}, session=self._session)
        return found is not None


class OpenTrajectory:
    """One trajectory in a transaction, to be written once.

    ``stored`` is what it was when it was opened, without its steps.
    """

    def __init__(self, database: Database, session: Session, document: Document) -> None:
        self.stored = stored_trajectory(document)
        self._picture_lifetime = database.picture_lifetime
        self._uses = PictureUses(database, session)
        self._session = session
        self._document = document
        self._trajectories = database.collection("trajectories")
        self._parts = PartStore(database)
        self._indexer = TrajectoryIndexer(database)

    async def whole(self) -> StoredTrajectory:
        """What it was when it was opened, with those of its steps that are in its document."""
        found = await self._trajectories.find_one(
            {"_id": self._document["_id"]}, session=self._session
        )
        return stored_trajectory(found or self._document)

    async def change(self, fields: Mapping[str, Any]) -> StoredTrajectory:
        """Write these fields of a StoredTrajectory; it is returned as it is then.

        Raises TooLarge above 16 MiB in all.
        """
        return stored_trajectory(await self._update(await self._changed(fields)))

    async def change_head(self, fields: Mapping[str, Any]) -> StoredTrajectory:
        """The same, returned without its steps."""
        return stored_trajectory(await self._update(await self._changed(fields), b""))

    async def _changed(self, fields: Mapping[str, Any]) -> Document:
        after = replace(self.stored, **fields)
        changed = _written(fields)
        if changed.keys() & {"name", "description"}:
            changed |= _found_by(after)
        if _size_of_texts(after) + self._document["inline_size"] > _CERTAINLY_FITS_BYTES:
            changed |= await self._steps_moved_out()
        return changed

    async def replace_main(self, of: UUID | None = None) -> None:
        """Let the main trajectory of its workflow, where that is another, be so no more.

        ``of`` is the workflow that it is moved to; None where it stays in its own.
        """
        own, workflow = self.stored.organization_id, of or self.stored.workflow_id
        await self._trajectories.update_one(
            {
                **main_of(own, [workflow]),
                "_id": {"$ne": self._document["_id"]},
            },
            {"$set": {"is_main": False}, "$inc": {"version": 1}},
            session=self._session,
        )

    async def append(
        self, steps: JsonObjects, changed: Mapping[str, Any] = NOTHING
    ) -> StoredTrajectory:
        """Put steps behind those that are there; the trajectory then, without its steps' text.

        ``changed`` are fields to write along with them.
        """
        text = steps.text[1:-1]
        size = self._document["inline_size"] + len(text)
        fields = {**_written(changed), "step_count": self.stored.step_count + steps.count}
        if pictures := await self._pictures_of(steps):
            await self._uses.add(self.stored.organization_id, self.stored.id, pictures)
            fields["has_pictures"] = True
        if size <= INLINE_BYTES:
            fields["inline_size"] = size
            return stored_trajectory(await self._update(fields, text))
        fields |= await self._steps_moved_out(text)
        return stored_trajectory(await self._update(fields, b""))

    async def replace_steps(
        self, steps: JsonObjects, changed: Mapping[str, Any] = NOTHING
    ) -> StoredTrajectory:
        """Put steps in the place of all that are there; the trajectory then, without their text.

        ``changed`` are fields to write along with them.
        """
        own = self.stored.organization_id
        fields = {**_written(changed), "step_count": steps.count, "pieces": []}
        pictures = await self._pictures_of(steps)
        if pictures or self.stored.has_pictures:
            await self._uses.keep(own, self.stored.id, pictures)
            fields["has_pictures"] = bool(pictures)
        segments: list[Segment] = []
        if len(steps.text) > INLINE_BYTES:
            empty = Segment(uuid4(), 0, 0)
            text = [memoryview(steps.text)[1:-1]]
            segments.append(await self._parts.append(self._session, own, empty, text))
        fields |= {
            "trajectory_data": NO_STEPS if segments else steps.text,
            "inline_size": 0 if segments else len(steps.text) - len(NO_STEPS),
            "segments": [each.document() for each in segments],
            "own_segment": segments[0].id if segments else None,
        }
        after = stored_trajectory(await self._update(fields, b""))
        await self._parts.release(self._session, own, self.stored.segments)
        return after

    async def delete(self) -> None:
        """Delete it, and its steps wherever they are."""
        await self._indexer.remove(self._session, self._document)
        await self._trajectories.delete_one({"_id": self._document["_id"]}, session=self._session)
        await self._parts.release(self._session, self.stored.organization_id, self.stored.segments)
        if self.stored.has_pictures:
            await self._uses.release(self.stored.organization_id, self.stored.id)

    async def _pictures_of(self, steps: JsonObjects) -> set[str]:
        """The pictures that steps refer to; where some went already, those that are there."""
        pictures = pictures_in([steps.text])
        if not pictures or self.stored.pictures_expired_at is None:
            return pictures
        return await self._uses.there(self.stored.organization_id, pictures)

    def _kept(self, fields: Document, time: datetime) -> Document:
        """Until when its pictures are kept, counted from this change."""
        review = fields["review"] if "review" in fields else self._document.get("review")
        after = replace(
            self.stored,
            has_pictures=fields.get("has_pictures", self.stored.has_pictures),
            review=stored_review(review),
            updated_at=time,
        )
        if not (after.has_pictures or self.stored.has_pictures):
            return {}
        until = pictures_until(after, self._picture_lifetime)
        return {"pictures_until": until, "pictures_bytes": None}

    async def _update(self, fields: Document, appended: bytes | None = None) -> Document:
        """Write these fields, and append a piece of steps; the document as it is then.

        With a piece, be it an empty one, the steps are not read back.
        """
        time = max(now(), self.stored.updated_at)
        mark = indexed_mark({**self._document, **fields})
        kept = self._kept(fields, fields.get("updated_at", time))
        update: Document = {
            "$set": {"updated_at": time, **fields, **mark, **kept},
            "$inc": {"version": 1},
            **({"$push": {"pieces": appended}} if appended else {}),
        }
        after: Document = await self._trajectories.find_one_and_update(
            {"_id": self._document["_id"]},
            update,
            projection=None if appended is None else _WITHOUT_STEPS,
            return_document=ReturnDocument.AFTER,
            session=self._session,
        )
        await self._indexer.change(self._session, self._document, after)
        return after

    async def _steps_moved_out(self, appended: bytes = b"") -> Document:
        """Move the document's steps, and appended ones, to its segment; the fields to write."""
        trajectory = await self.whole()
        steps = [each for each in (*trajectory.inline_steps, memoryview(appended)) if each]
        if not steps:
            return {}
        *shared, last = trajectory.segments or (Segment(uuid4(), 0, 0),)
        if last.parts and last.id != trajectory.own_segment:
            shared, last = [*shared, last], Segment(uuid4(), 0, 0)
        grown = await self._parts.append(self._session, trajectory.organization_id, last, steps)
        return {
            "trajectory_data": NO_STEPS,
            "pieces": [],
            "inline_size": 0,
            "segments": [segment.document() for segment in (*shared, grown)],
            "own_segment": grown.id,
        }


def main_of(organization_id: UUID, workflow_ids: Iterable[UUID]) -> Document:
    """What finds the main trajectories of workflows."""
    return {
        "organization_id": organization_id,
        "workflow_id": {"$in": list(workflow_ids)},
        "is_main": True,
    }


async def mains(
    trajectories: Collection,
    organization_id: UUID,
    workflow_ids: Iterable[UUID],
    session: Session | None = None,
) -> set[UUID]:
    """Those of these workflows that have a main trajectory."""
    wanted = main_of(organization_id, workflow_ids)
    found: list[UUID] = await trajectories.distinct("workflow_id", wanted, session=session)
    return set(found)


def new_document(database: Database, trajectory: StoredTrajectory) -> Document:
    """The document of a new trajectory.  Raises TooLarge where the database would not take it."""
    document = document_of(trajectory, {**_found_by(trajectory), **new_mark()})
    database.check_size(document, _size_of_texts(trajectory))
    return document


def _written(fields: Mapping[str, Any]) -> Document:
    """Fields of a StoredTrajectory as its document has them."""
    review = fields.get("review")
    return {**fields, **({} if review is None else {"review": review.document()})}


def _found_by(trajectory: StoredTrajectory) -> Document:
    """The fields that it is searched and sorted by."""
    return {
        "search": search_text(trajectory.id, trajectory.name, trajectory.description),
        "name_order": name_order(trajectory.name),
    }


def _size_of_texts(trajectory: StoredTrajectory) -> int:
    """How many bytes its texts take in a document, or more, but never less."""
    free_form = (
        trajectory.dimensions,
        trajectory.original_input_values,
        trajectory.trajectory_data or b"",
        *trajectory.pieces,
    )
    # A description is stored twice, once folded, with up to 4 bytes for a character; folding can
    # make three characters of one.
    return sum(map(len, free_form)) + 16 * len(trajectory.description or "")
