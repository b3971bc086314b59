"""What this machine has begun and ended, on disk, so that no command is ever begun twice.

One row for each command id: INTENT before the first event, DONE with the outcome after the last,
or TOMBSTONE for an id that must never be carried out.  A journal has a random id and a sequence
number that grows with every change, so that the server notices another journal, or an old copy.

What no key can repeat is not worth a wait: its entries gather in memory, and ``settle`` writes
them when there is time.  Until then they have no number, so none that was told can go back.
"""

import sqlite3
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from schemas.outcomes import NotCarriedOut, Outcome, Unknown
from schemas.wire import JournalPosition

KEPT_SECONDS = 8 * 24 * 3600
"""How long an entry stays: a day more than the seven that the protocol demands."""

PRUNE_EVERY = 3600.0

MAX_UNWRITTEN = 256

_OUTCOMES: TypeAdapter[Outcome] = TypeAdapter(Outcome)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS journal (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
    command_id BLOB PRIMARY KEY,
    sequence INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT,
    changed_at REAL NOT NULL
);
"""


class JournalError(Exception):
    """The journal cannot be used; the message says why, for a person."""


class EntryState(StrEnum):
    """How far a command came."""

    INTENT = "INTENT"
    DONE = "DONE"
    TOMBSTONE = "TOMBSTONE"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the journal knows of one command."""

    state: EntryState
    fingerprint: str
    outcome: Outcome | None

    def final_outcome(self) -> Outcome:
        """What this entry means for a command that does not run now."""
        if self.outcome is not None:
            return self.outcome
        return NotCarriedOut() if self.state is EntryState.TOMBSTONE else Unknown()


class Journal:
    """The journal in one SQLite file; used by one thread, owned by one process.

    Raises :class:`JournalError` where the file cannot be opened, or another process has it.
    """

    def __init__(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Opened where mistakes can be told to a person, then used by the executor's thread.
            self._database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            # Two machine clients with one journal would each begin what the other did not see.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_SCHEMA)
            self._database.execute(
                "INSERT OR IGNORE INTO journal (one, id) VALUES (1, ?)", (str(uuid4()),)
            )
            (journal_id,) = self._database.execute("SELECT id FROM journal").fetchone()
            (sequence,) = self._database.execute(
                "SELECT coalesce(max(sequence), 0) FROM entries"
            ).fetchone()
            self._id = UUID(journal_id)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise JournalError(
                    f"the journal {file} is in use: a machine client runs with it already"
                ) from None
            raise JournalError(f"the journal {file} cannot be opened: {error}") from None
        except (sqlite3.DatabaseError, OSError, ValueError) as error:
            raise JournalError(f"the journal {file} cannot be used: {error}") from None
        self._sequence: int = sequence
        self._unwritten: dict[UUID, Entry] = {}
        self._prune_at = 0.0

    @property
    def position(self) -> JournalPosition:
        """Which journal this is and how far it has come, whatever happens to this process."""
        return JournalPosition(id=self._id, sequence=self._sequence)

    def find(self, command_id: UUID) -> Entry | None:
        """What is known of a command, or None."""
        if (unwritten := self._unwritten.get(command_id)) is not None:
            return unwritten
        row = self._database.execute(
            "SELECT state, fingerprint, outcome FROM entries WHERE command_id = ?",
            (command_id.bytes,),
        ).fetchone()
        if row is None:
            return None
        state, fingerprint, outcome = row
        return Entry(
            EntryState(state),
            fingerprint,
            None if outcome is None else _OUTCOMES.validate_json(outcome),
        )

    def intend(self, command_id: UUID, fingerprint: str) -> bool:
        """Note that a command begins; on disk before this returns, if a key can repeat it.

        False, and nothing noted, where the journal knows the command already.
        """
        if fingerprint:
            return self._add_durably(command_id, EntryState.INTENT, fingerprint)
        if self.find(command_id) is not None:
            return False
        self._unwritten[command_id] = Entry(EntryState.INTENT, "", None)
        return True

    def finish(self, command_id: UUID, outcome: Outcome) -> None:
        """Note how a command that was intended ended.

        Not flushed: should it be lost in a power cut, the intent stands, and the outcome is
        honestly unknown.
        """
        if command_id in self._unwritten:
            self._unwritten[command_id] = Entry(EntryState.DONE, "", outcome)
            if len(self._unwritten) >= MAX_UNWRITTEN:
                self.settle()
            return
        self._database.execute(
            "UPDATE entries SET state = ?, sequence = ?, outcome = ?, changed_at = ?"
            " WHERE command_id = ?",
            (
                EntryState.DONE,
                self._sequence + 1,
                outcome.model_dump_json(),
                time.time(),
                command_id.bytes,
            ),
        )
        self._sequence += 1

    def refuse(self, command_id: UUID, fingerprint: str, outcome: Outcome) -> bool:
        """Note the outcome of a command that was not begun and never will be; as ``intend``."""
        return self._add(command_id, Entry(EntryState.DONE, fingerprint, outcome))

    def bar(self, command_id: UUID) -> bool:
        """Note that a command must never be carried out, on disk at once; as ``intend``."""
        return self._add_durably(command_id, EntryState.TOMBSTONE, "")

    def settle(self) -> None:
        """Write what gathered, and forget what is old; for when nobody waits."""
        if self._unwritten:
            before = self._sequence
            self._database.execute("BEGIN")
            try:
                for command_id, entry in self._unwritten.items():
                    self._add(command_id, entry)
                self._database.execute("COMMIT")
            except sqlite3.Error:
                # Left open, it would keep every later entry off the disk; some errors end it.
                self._sequence = before
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            self._unwritten.clear()
        self._prune()

    def close(self) -> None:
        """Settle, and release the file."""
        self.settle()
        self._database.close()

    def _add_durably(self, command_id: UUID, state: EntryState, fingerprint: str) -> bool:
        self.settle()
        # With a write-ahead log, FULL flushes the log at every commit (SQLite, pragma.html).
        self._database.execute("PRAGMA synchronous = FULL")
        try:
            return self._add(command_id, Entry(state, fingerprint, None))
        finally:
            self._database.execute("PRAGMA synchronous = NORMAL")

    def _add(self, command_id: UUID, entry: Entry) -> bool:
        try:
            self._database.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)",
                (
                    command_id.bytes,
                    self._sequence + 1,
                    entry.state,
                    entry.fingerprint,
                    None if entry.outcome is None else entry.outcome.model_dump_json(),
                    time.time(),
                ),
            )
        except sqlite3.IntegrityError:
            return False
        # Only now: a number that is in no row would go back when the journal is opened again.
        self._sequence += 1
        return True

    def _prune(self) -> None:
        """Forget what nobody may ask about any more, but never the highest sequence number."""
        now = time.monotonic()
        if now < self._prune_at:
            return
        self._prune_at = now + PRUNE_EVERY
        self._database.execute(
            "DELETE FROM entries WHERE changed_at < ? AND sequence < ?",
            (time.time() - KEPT_SECONDS, self._sequence),
        )
