"""The ledger: one document for each keyed command, changed by single atomic operations only.

What the operations guarantee together is the business of ``server.dispatch``; here each of them
is one write, acknowledged by a majority and journaled.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pymongo.read_concern import ReadConcern

from server.store.database import Database, Document
from server.store.errors import AlreadyExists

DEFAULT_LIFETIME: Final = timedelta(hours=24)
"""How long a record is kept after its final state."""


class CommandState(StrEnum):
    """How far a command has come, as far as the ledger knows."""

    CLAIMED = "CLAIMED"
    SENT = "SENT"
    DONE = "DONE"
    NOT_CARRIED_OUT = "NOT_CARRIED_OUT"
    UNKNOWN = "UNKNOWN"

    @property
    def is_final(self) -> bool:
        """Whether this state never changes."""
        return self not in _OPEN_STATES


_OPEN_STATES: Final = (CommandState.CLAIMED, CommandState.SENT)


@dataclass(frozen=True)
class Answer:
    """The HTTP answer to a command, byte for byte."""

    status: int
    content_type: str | None
    body: bytes


@dataclass(frozen=True)
class CommandRecord:
    """What the ledger keeps of a command.

    ``attempt`` is random and names the claim; ``epoch``, ``journal_id`` and ``journal_sequence``
    are those of the link that it was sent on; ``minimal`` is whether no body was wanted.
    """

    command_id: UUID
    organization_id: UUID
    machine_id: str
    operation: str
    fingerprint: str
    state: CommandState
    attempt: UUID
    epoch: int
    journal_id: UUID
    journal_sequence: int
    request_id: str
    minimal: bool
    accepted_at: datetime
    expires_at: datetime
    final_at: datetime | None = None
    answer: Answer | None = None


class CommandStore:
    """Reads and writes the ledger."""

    def __init__(self, database: Database, *, lifetime: timedelta = DEFAULT_LIFETIME) -> None:
        self._database = database
        self._lifetime = lifetime
        self._commands = database.collection("commands")
        # Sees what is not yet held by a majority too: better one record too many than one missed.
        self._commands_at_once = self._commands.with_options(read_concern=ReadConcern("local"))

    async def claim_sent(self, record: CommandRecord) -> bool:
        """Claim a command and mark it as SENT, in one insert; False where it is claimed already.

        After StoreUnavailable, which may have happened before or after the insert, the same
        record may be given again: its ``attempt`` is recognised, for as long as it is SENT.
        """
        try:
            async with self._database.operation():
                await self._commands.insert_one(_document(record))
        except AlreadyExists:
            return await self._is_own_claim(record)
        return True

    async def find(self, command_id: UUID) -> CommandRecord | None:
        """The record as a majority has it, or None.

        A primary that was voted out a moment ago and does not know it yet may answer with a state
        of the past.  No harm comes of it: a final state never changes, and whatever the caller
        writes because of an older one needs a majority too.  (A linearizable read would wait for
        that majority here already; measured: 200 ms.)
        """
        async with self._database.operation():
            found = await self._commands.find_one({"_id": command_id})
        return None if found is None else _record(found)

    async def finish(
        self,
        command_id: UUID,
        state: CommandState,
        answer: Answer,
        final_at: datetime,
        *,
        attempt: UUID | None = None,
    ) -> bool:
        """Write the final state, from which the record's lifetime runs.

        False where the record is gone, final already, or of another attempt than the given one;
        then the answer that counts is the one that ``find`` brings.
        """
        if not state.is_final:
            raise ValueError(f"{state} is not a final state")
        wanted: Document = {"_id": command_id, "state": {"$in": list(_OPEN_STATES)}}
        if attempt is not None:
            wanted["attempt"] = attempt
        change = {
            "state": state,
            "answer": vars(answer),
            "final_at": final_at,
            "delete_at": final_at + self._lifetime,
        }
        async with self._database.operation():
            result = await self._commands.update_one(wanted, {"$set": change})
        return result.modified_count == 1

    async def forget(self, command_id: UUID, attempt: UUID) -> bool:
        """Delete the attempt's own record, of which nothing was sent; False if it is not there."""
        async with self._database.operation():
            result = await self._commands.delete_one(
                {"_id": command_id, "attempt": attempt, "state": {"$in": list(_OPEN_STATES)}}
            )
        return result.deleted_count == 1

    async def unresolved(self, organization_id: UUID, machine_id: str) -> list[CommandRecord]:
        """Every SENT record of the machine, oldest first."""
        cursor = self._commands_at_once.find(
            {
                "organization_id": organization_id,
                "machine_id": machine_id,
                "state": CommandState.SENT,
            },
            sort=[("accepted_at", 1)],
        )
        return [_record(found) async for found in self._database.documents(cursor)]

    async def _is_own_claim(self, record: CommandRecord) -> bool:
        async with self._database.operation():
            own = await self._commands.find_one(
                {"_id": record.command_id, "attempt": record.attempt, "state": CommandState.SENT},
                projection={"_id": True},
            )
        return own is not None


def _document(record: CommandRecord) -> Document:
    document = {**vars(record), "answer": record.answer and vars(record.answer)}
    document["_id"] = document.pop("command_id")
    return document


def _record(document: Document) -> CommandRecord:
    fields = dict(document)
    fields.pop("delete_at", None)
    answer = fields.pop("answer")
    return CommandRecord(
        command_id=fields.pop("_id"),
        state=CommandState(fields.pop("state")),
        answer=None if answer is None else Answer(**answer),
        **fields,
    )
