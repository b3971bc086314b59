"""Where a journal's entries are kept: one SQLite file, owned by one process."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from machine_client.journal import Entry, EntryState, NumberedEntry
from schemas.outcomes import Outcome

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


class JournalFile:
    """See `machine_client.journal.JournalStorage`; for one thread at a time.

    Raises :class:`JournalError` where the file cannot be opened, or another process has it.
    """

    def __init__(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Opened where mistakes can be told to a person, then used by other threads.
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
            self.journal_id = UUID(journal_id)
            (self.sequence,) = self._database.execute(
                "SELECT coalesce(max(sequence), 0) FROM entries"
            ).fetchone()
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise JournalError(
                    f"the journal {file} is in use: a machine client runs with it already"
                ) from None
            raise JournalError(f"the journal {file} cannot be opened: {error}") from None
        except (sqlite3.DatabaseError, OSError, ValueError) as error:
            raise JournalError(f"the journal {file} cannot be used: {error}") from None

    def find(self, command_id: UUID) -> Entry | None:
        """The entry of a command, or None."""
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

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        """Put entries in the place of what was there; all of them or, where it raises, none."""
        if flush:
            # With a write-ahead log, FULL flushes the log at every commit (SQLite, pragma.html).
            self._database.execute("PRAGMA synchronous = FULL")
        try:
            self._replace(entries)
        finally:
            if flush:
                self._database.execute("PRAGMA synchronous = NORMAL")
        self.sequence = max(entry.sequence for entry in entries)

    def forget(self, older_than: float) -> None:
        """Delete what was last changed before, in seconds ago; but never the highest number."""
        self._database.execute(
            "DELETE FROM entries WHERE changed_at < ? AND sequence < ?",
            (time.time() - older_than, self.sequence),
        )

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _replace(self, entries: Sequence[NumberedEntry]) -> None:
        statement = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)"
        rows = [_row(entry) for entry in entries]
        if len(rows) == 1:
            self._database.execute(statement, rows[0])
            return
        self._database.execute("BEGIN")
        try:
            self._database.executemany(statement, rows)
            self._database.execute("COMMIT")
        except sqlite3.Error:
            # Left open, it would keep every later entry off the disk; some errors end it.
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise


def _row(numbered: NumberedEntry) -> tuple[bytes, int, str, str, str | None, float]:
    entry = numbered.entry
    return (
        numbered.command_id.bytes,
        numbered.sequence,
        entry.state,
        entry.fingerprint,
        None if entry.outcome is None else entry.outcome.model_dump_json(),
        time.time(),
    )
