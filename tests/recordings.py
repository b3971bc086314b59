"""Recordings as tests keep them in a server's database, without a machine that is connected."""

from typing import Any, cast
from uuid import UUID, uuid4

from server.dispatch.command import Command, Ended
from server.dispatch.recording.here import RecordingsHere
from server.store.recordings.recordings import StoredRecording
from server.store.times import now
from server.store.transactions import Transaction
from server.tasks import Tasks
from tests.service import Service


def recording(organization_id: UUID, machine_id: str) -> StoredRecording:
    """A recording that has just begun."""
    return StoredRecording(
        id=uuid4(),
        organization_id=organization_id,
        machine_id=machine_id,
        trajectory_id=uuid4(),
        workflow_id=uuid4(),
        by="of a test",
        token_id=uuid4(),
        created_at=now(),
        of_all=True,
        keep_texts=False,
    )


async def keep_recording(service: Service, machine_id: str) -> StoredRecording:
    """Store a recording of a machine of this organization."""
    made = recording(service.organization_id, machine_id)

    async def work(transaction: Transaction) -> None:
        await transaction.recordings.insert(made)

    await service.server.services.machines.recordings._transactions.run(work)
    return made


class _NotRecorded(RecordingsHere):
    """Has nothing to be made up."""

    async def told(self, command: Command, reply: Ended) -> None:
        pass


def recording_nothing(background: Tasks) -> RecordingsHere:
    """The recordings of a node none of whose machines is ever recorded."""
    return _NotRecorded(cast("Any", None), cast("Any", None), background)
