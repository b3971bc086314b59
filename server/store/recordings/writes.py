"""Recordings inside a transaction: begun, filled and ended.

Everything here raises the driver's own errors, which say whether to try the transaction again.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from schemas.resources.recordings import MOST_OF_MACHINE
from server.errors import NotFound, WrongState
from server.store.machines.documents import existing, noted
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import Session
from server.store.recordings.recordings import (
    RUNNING,
    StoredRecording,
    recording_document,
    recording_of,
)
from server.store.times import now

KEYS_KEPT: Final = timedelta(days=3)
"""How long it is known of an input that it is among the steps: longer than anybody retries it."""

_INDEX_BYTES: Final = 4


def step_key(command_id: UUID, index: int) -> bytes:
    """What a step is known by: its command, and which of several actions it is."""
    return command_id.bytes + index.to_bytes(_INDEX_BYTES)


class RecordingWrites:
    """The recordings as one transaction reads and writes them."""

    def __init__(self, database: Database, session: Session) -> None:
        self._session = session
        self._recordings = database.collection("recordings")
        self._keys = database.collection("recorded_inputs")
        self._machines = database.collection("machines")

    async def insert(self, recording: StoredRecording) -> StoredRecording:
        """Store a new one, and mark its machine; what is stored.

        What is typed is a secret for it where that was said for any other of its machine.  Raises
        NotFound where there is no such machine, WrongState where as many recordings of it run as
        may.
        """
        own = existing(recording.organization_id, recording.machine_id)
        machine = await self._machines.find_one(own, {"recordings": True}, session=self._session)
        if machine is None:
            raise NotFound("There is no such machine.")
        marks = machine.get("recordings", ())
        if len(marks) >= MOST_OF_MACHINE:
            names = ", ".join(mark["by"] for mark in marks)
            raise WrongState(
                f"{MOST_OF_MACHINE} recordings of this machine run, which are as many as may: by "
                f"{names}"
            )
        stored = replace(recording, secret=any(mark.get("secret", False) for mark in marks))
        marked = noted({"$push": {"recordings": stored.mark.document()}})
        await self._machines.update_one(own, marked, session=self._session)
        await self._recordings.insert_one(recording_document(stored), session=self._session)
        return stored

    async def get(self, organization_id: UUID, recording_id: UUID) -> StoredRecording | None:
        """The recording, to be written, or None."""
        found = await self._recordings.find_one(
            {"_id": recording_id, "organization_id": organization_id}, session=self._session
        )
        return None if found is None else recording_of(found)

    async def of_machine(self, organization_id: UUID, machine_id: str) -> list[StoredRecording]:
        """Those of a machine that run, to be written."""
        wanted = {"state": RUNNING, "organization_id": organization_id, "machine_id": machine_id}
        cursor = self._recordings.find(wanted, session=self._session)
        return [recording_of(found) async for found in cursor]

    async def move(self, recording: StoredRecording, taker_id: UUID | None) -> None:
        """Another one takes its steps from now on, or nobody."""
        await self.change(recording, {"taker_id": taker_id, "open_steps": []})

    async def known(self, recording_id: UUID, keys: Collection[bytes]) -> set[bytes]:
        """Those of these keys whose steps are there."""
        wanted = [recording_id.bytes + key for key in keys]
        cursor = self._keys.find({"_id": {"$in": wanted}}, {"_id": True}, session=self._session)
        return {found["_id"][len(recording_id.bytes) :] async for found in cursor}

    async def note(self, recording_id: UUID, keys: Collection[bytes]) -> None:
        """The steps with these keys are there from now on."""
        if keys:
            delete_at = now() + KEYS_KEPT
            await self._keys.insert_many(
                [{"_id": recording_id.bytes + key, "delete_at": delete_at} for key in keys],
                session=self._session,
            )

    async def change(self, recording: StoredRecording, fields: Mapping[str, Any]) -> None:
        """Write these fields."""
        if fields:
            await self._recordings.update_one(
                {"_id": recording.id}, {"$set": {**fields}}, session=self._session
            )

    async def mark_secret(self, recording: StoredRecording, *, secret: bool) -> None:
        """What is typed from now on is a secret, or is not said to be."""
        await self.change(recording, {"secret": secret})
        await self._machines.update_one(
            self._marked(recording),
            noted({"$set": {"recordings.$.secret": secret}}),
            session=self._session,
        )

    async def unmark(self, recording: StoredRecording) -> None:
        """Its machine is not marked by it any more; one that was removed may be none."""
        await self._machines.update_one(
            self._marked(recording),
            noted({"$pull": {"recordings": {"id": recording.id}}}),
            session=self._session,
        )

    @staticmethod
    def _marked(recording: StoredRecording) -> dict[str, Any]:
        return {
            "organization_id": recording.organization_id,
            "machine_id": recording.machine_id,
            "recordings.id": recording.id,
        }

    async def delete(self, recording: StoredRecording) -> None:
        """One that never began is none."""
        await self.unmark(recording)
        await self._recordings.delete_one({"_id": recording.id}, session=self._session)
