"""Recordings: each is of one machine, and fills one trajectory."""

import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from schemas.resources.recordings import RecordedInputs, RecordingState, WhyStopped
from server.store.machines.recording_marks import RecordingMark
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of

StoredState = Literal["recording", "ending", "stopped"]
"""What is ending takes no steps any more, and its trajectory is not generated yet."""

RUNNING: Final[StoredState] = "recording"
ENDING: Final[StoredState] = "ending"
STOPPED: Final[StoredState] = "stopped"

_TOLD: Final[Mapping[RecordingState, Sequence[StoredState]]] = {
    "recording": (RUNNING,),
    "stopped": (ENDING, STOPPED),
}

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]

MOST_AT_ONCE: Final = 10_000
"""So many that run are looked at together."""


@dataclass(frozen=True)
class StoredStep:
    """A step as it is written: ``key`` is what it is known by, ``content`` its JSON.

    ``author`` is who did it, as trajectories know their authors.
    """

    key: bytes
    content: bytes
    is_gap: bool = False
    has_secret: bool = False
    author: str | None = None


@dataclass(frozen=True)
class StoredRecording:
    """A recording as it is stored.

    ``taker_id`` is who takes its steps, on some node; None where nobody does, and nothing is
    missing.
    ``open_steps`` are those that are not over there, as they would be if they ended now.
    """

    id: UUID
    organization_id: UUID
    machine_id: str
    trajectory_id: UUID
    workflow_id: UUID
    by: str
    token_id: UUID
    created_at: datetime
    of_all: bool
    keep_texts: bool
    secret: bool = False
    user_id: UUID | None = None
    state: StoredState = RUNNING
    stopped_at: datetime | None = None
    why_stopped: WhyStopped | None = None
    steps: int = 0
    step_bytes: int = 0
    gaps: int = 0
    secrets: int = 0
    pictures: int = 0
    picture_bytes: int = 0
    last_step_at: datetime | None = None
    taker_id: UUID | None = None
    open_steps: Sequence[StoredStep] = ()

    @property
    def runs(self) -> bool:
        """Whether it takes steps."""
        return self.state == RUNNING

    @property
    def of(self) -> RecordedInputs:
        """Whose inputs it takes."""
        return "everybody" if self.of_all else "me"

    @property
    def mark(self) -> RecordingMark:
        """What its machine's document says of it."""
        return RecordingMark(
            self.id,
            self.by,
            self.token_id,
            self.created_at,
            self.of_all,
            self.keep_texts,
            self.secret,
        )


class RecordingStore:
    """Reads recordings; what is asked by an organization sees its own alone."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recordings = database.collection("recordings")

    async def get(self, organization_id: UUID, recording_id: UUID) -> StoredRecording | None:
        """The recording, or None."""
        wanted = {"_id": recording_id, "organization_id": organization_id}
        async with self._database.operation():
            found = await self._recordings.find_one(wanted)
        return None if found is None else recording_of(found)

    async def list(
        self,
        organization_id: UUID,
        *,
        machine_ids: Collection[str] | None,
        state: RecordingState | None,
        skip: int,
        limit: int,
    ) -> tuple[builtins.list[StoredRecording], int]:
        """One page of them, newest first, and how many there are; of these machines, if given."""
        wanted: Document = {"organization_id": organization_id}
        if machine_ids is not None:
            wanted["machine_id"] = {"$in": sorted(machine_ids)}
        if state is not None:
            wanted["state"] = {"$in": [*_TOLD[state]]}
        cursor = self._recordings.find(wanted, sort=_NEWEST_FIRST, skip=skip, limit=limit)
        found = [recording_of(each) async for each in self._database.documents(cursor)]
        async with self._database.operation():
            return found, await self._recordings.count_documents(wanted)

    async def not_stopped(self) -> Sequence[StoredRecording]:
        """All that run or are ending, of every organization."""
        wanted = {"state": {"$in": [RUNNING, ENDING]}}
        cursor = self._recordings.find(wanted, limit=MOST_AT_ONCE)
        return [recording_of(each) async for each in self._database.documents(cursor)]


def recording_of(document: Document) -> StoredRecording:
    """A recording in its document."""
    fields = fields_of(StoredRecording, document)
    fields["open_steps"] = tuple(StoredStep(**each) for each in document.get("open_steps", ()))
    return StoredRecording(id=document["_id"], **fields)


def recording_document(recording: StoredRecording) -> Document:
    """The document to store."""
    document = {**vars(recording), "_id": recording.id}
    document["open_steps"] = steps_document(recording.open_steps)
    del document["id"]
    return document


def steps_document(steps: Sequence[StoredStep]) -> builtins.list[Document]:
    """What a document has of steps."""
    return [{**vars(step)} for step in steps]
