"""The ledger: one document for each keyed command, changed by single atomic operations only.

What the operations guarantee together is the business of ``server.dispatch``; here each of them
is one write, acknowledged by a majority and journaled.  The two that every command makes, its claim
and its end, are made together with those of others that wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from pydantic import TypeAdapter
from pydantic_core import to_json
from pymongo.read_concern import ReadConcern

from schemas.inputs.outcomes import Outcome
from server.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.batches import Batches
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of, machines_of
from server.store.mongodb.grouped_writes import grouped_inserts, grouped_updates

DEFAULT_LIFETIME: Final = timedelta(hours=24)
"""How long a record is stored after its final state."""


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
class CommandRecord:
    """What the ledger stores of a command.

    ``attempt`` is random and names the claim, which others may take over after ``claimed_until``
    for as long as nothing was sent.  ``epoch``, ``boot_id``, ``journal_id``, ``journal_sequence``
    and ``journal_mark`` are those of the link that it was sent on, or was to be; there is no
    journal where the command was lost on its way from another node.  ``minimal`` is whether no body
    was wanted.  Without a key the fingerprint is empty.  ``token_id`` and ``token_name`` are of who
    sent it.
    """

    command_id: UUID
    organization_id: UUID
    machine_id: str
    operation: str
    fingerprint: str
    state: CommandState
    attempt: UUID
    claimed_until: datetime
    epoch: int
    boot_id: str | None
    journal_id: UUID | None
    journal_sequence: int
    request_id: str
    minimal: bool
    accepted_at: datetime
    expires_at: datetime
    final_at: datetime | None = None
    outcome: Outcome | None = None
    token_id: UUID | None = None
    token_name: str | None = None
    journal_mark: UUID | None = None

    @property
    def is_keyed(self) -> bool:
        """Whether a retry may ask for this command again."""
        return bool(self.fingerprint)

    @property
    def request_key(self) -> tuple[UUID, str]:
        """What tells the request of this command from every other: equal for all its retries."""
        return self.command_id, self.fingerprint

    def is_of(self, claim: "CommandRecord") -> bool:
        """Whether this is that claim's own record and has gone no further."""
        return (self.attempt, self.state) == (claim.attempt, claim.state)


class CommandStore:
    """Reads and writes the ledger."""

    def __init__(self, database: Database, *, lifetime: timedelta = DEFAULT_LIFETIME) -> None:
        self._database = database
        self._lifetime = lifetime
        self._commands = database.collection("commands")
        self._claims = grouped_inserts(database, self._commands)
        self._ends = grouped_updates(database, self._commands)
        # Sees what is not yet held by a majority too: better one record too many than one missed.
        self._commands_at_once = self._commands.with_options(read_concern=ReadConcern("local"))
        self._unresolved = Batches(self._sent_to, database.tasks, "read what is unresolved")

    async def claim(self, record: CommandRecord) -> CommandRecord:
        """Claim a command by inserting its record; the record that stands then, own or another's.

        After StoreUnavailable, which may have happened before or after the insert, the same
        record may be given again: its ``attempt`` is recognised.  Raises StoreUnavailable too
        where another's record is there but not yet held by a majority.
        """
        document = _document(record)
        if not record.is_keyed:
            # Nobody may ever ask, or the machine never come back: this one does not stay for ever.
            document["delete_at"] = record.expires_at + self._lifetime
        try:
            await self._claims.make(document)
        except AlreadyExists:
            standing = await self.find(record.command_id)
            if standing is None:
                raise StoreUnavailable("The command is just being claimed.") from None
            return standing
        return record

    async def mark_sent(self, record: CommandRecord) -> bool:
        """Let a claim say SENT; False where it is not this attempt's any more.

        May be repeated after StoreUnavailable.
        """
        return await self._replace(record, record.attempt)

    async def take_over(self, abandoned: CommandRecord, record: CommandRecord) -> bool:
        """Put one's own record in the place of a claim; False where that has moved on.

        May be repeated after StoreUnavailable.
        """
        return await self._replace(record, abandoned.attempt)

    async def find(self, command_id: UUID) -> CommandRecord | None:
        """The record as a majority has it, or None.

        A primary that was voted out a moment ago and does not know it yet may answer with a state
        of the past.  No harm comes of it: a final state never changes, and whatever the caller
        writes because of an older one needs a majority too.  (A linearizable read would wait for
        that majority here already; measured: 200 ms.)
        """
        async with self._database.operation():
            found = await self._commands.find_one({"_id": command_id})
        return None if found is None else record_of(found)

    async def finish(
        self, record: CommandRecord, state: CommandState, outcome: Outcome, final_at: datetime
    ) -> bool:
        """Write the final state, from which the record's lifetime runs.

        False where the record is gone, or is not in the state and of the attempt of the one that
        is given; then the outcome that counts is the one that ``find`` brings.
        """
        if record.state.is_final or not state.is_final:
            raise ValueError(f"{record.state} cannot become {state}: one is open, the other final")
        wanted: Document = {
            "_id": record.command_id,
            "attempt": record.attempt,
            "state": record.state,
        }
        change = {
            "state": state,
            "outcome": to_json(outcome),
            "final_at": final_at,
            "delete_at": final_at + self._lifetime,
        }
        if await self._ends.make((wanted, {"$set": change})):
            return True
        # Not, or it is not known: others' ends were written with it, and not all of them.
        found = await self.find(record.command_id)
        return (
            found is not None
            and (found.attempt, found.state) == (record.attempt, state)
            and (to_json(found.outcome), found.final_at) == (to_json(outcome), final_at)
        )

    async def forget(self, command_id: UUID, attempt: UUID) -> bool:
        """Delete the attempt's own record, of which nothing was sent; False if it is not there."""
        async with self._database.operation():
            result = await self._commands.delete_one(
                {"_id": command_id, "attempt": attempt, "state": {"$in": list(_OPEN_STATES)}}
            )
        return result.deleted_count == 1

    async def unresolved(
        self, organization_id: UUID, machine_id: str, epoch: int
    ) -> list[CommandRecord]:
        """Every SENT record of the machine's links before this epoch, oldest first.

        In one query with others who ask at the same time.
        """
        sent = await self._unresolved.answer((organization_id, machine_id))
        return [record for record in sent if record.epoch < epoch]

    async def _sent_to(self, machines: Sequence[tuple[UUID, str]]) -> Sequence[list[CommandRecord]]:
        """Every SENT record of each machine, oldest first."""
        cursor = self._commands_at_once.find({**machines_of(machines), "state": CommandState.SENT})
        of: dict[tuple[UUID, str], list[CommandRecord]] = {}
        async for found in self._database.documents(cursor):
            record = record_of(found)
            of.setdefault((record.organization_id, record.machine_id), []).append(record)
        return [
            sorted(of.get(machine, ()), key=lambda record: record.accepted_at)
            for machine in machines
        ]

    async def _replace(self, record: CommandRecord, claim: UUID) -> bool:
        async with self._database.operation():
            result = await self._commands.replace_one(
                {"_id": record.command_id, "attempt": claim, "state": CommandState.CLAIMED},
                _document(record),
            )
        if result.modified_count == 1:
            return True
        found = await self.find(record.command_id)
        return found is not None and found.is_of(record)


def _document(record: CommandRecord) -> Document:
    # As JSON: what a machine says of an outcome need not be what a database takes for a document.
    outcome = None if record.outcome is None else to_json(record.outcome)
    document = {**vars(record), "outcome": outcome}
    document["_id"] = document.pop("command_id")
    return document


_OUTCOMES: Final[TypeAdapter[Outcome]] = TypeAdapter(Outcome)


def record_of(document: Document) -> CommandRecord:
    """The record that a document of the ledger is."""
    fields, outcome = fields_of(CommandRecord, document), document["outcome"]
    fields["state"] = CommandState(fields["state"])
    fields["outcome"] = None if outcome is None else _OUTCOMES.validate_json(outcome)
    return CommandRecord(command_id=document["_id"], **fields)
