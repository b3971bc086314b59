"""Where a journal's entries are kept: one SQLite file, owned by one process."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from machine_client.journal.journal import Entry, EntryState, JournalError, NumberedEntry
from machine_client.system.clock import boottime_seconds
from machine_client.system.private_files import (
    keep_others_from_writing,
    make_private_directory,
    make_private_file,
)
from schemas.inputs.outcomes import Outcome

logger = logging.getLogger(__name__)

LOCK_SECONDS = 0.2
"""How long to wait for whoever else has the file open.

A machine client keeps it for as long as it runs, so that more patience only makes the refusal come
later; ``farhand-machine doctor`` opens it for some milliseconds, and must not keep a client away.
"""

_OUTCOMES: TypeAdapter[Outcome] = TypeAdapter(Outcome)


class JournalInUse(JournalError):  # noqa: N818  a state of the world
    """Another process has the journal open."""


_MIGRATIONS = (
    """
CREATE TABLE journal (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL);
CREATE TABLE entries (
    command_id BLOB PRIMARY KEY,
    sequence INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT,
    age REAL NOT NULL
);
""",
)
"""Each takes the tables one version further; they are never changed, only added to."""

SCHEMA_VERSION = len(_MIGRATIONS)


class JournalFile:
    """See `machine_client.journal.journal.JournalStorage`; for one thread at a time.

    Entries age by ``clock``, seconds that no setting of the time moves, while the journal is open;
    from one opening to the next their age stands still.

    Raises :class:`JournalError` where the file cannot be opened or read, is of a newer machine
    client, or another process has it.
    """

    def __init__(self, file: Path, clock: Callable[[], float] = boottime_seconds) -> None:
        self._file = file
        self._clock = clock
        try:
            make_private_directory(file.parent)
            if keep_others_from_writing(file.parent):
                logger.warning("others could write into %s, and cannot any more", file.parent)
            make_private_file(file)
            # Opened where mistakes can be told to a person, then used by other threads.
            self._database = sqlite3.connect(
                file, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError) as error:
            raise JournalError(f"the journal {file} cannot be opened: {error}") from None
        try:
            self._open()
        except BaseException:
            self._database.close()
            raise

    def _open(self) -> None:
        try:
            # Two machine clients with one journal would each begin what the other did not see.
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._check_version()
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._migrate()
            self._database.execute(
                "INSERT OR IGNORE INTO journal (one, id) VALUES (1, ?)", (str(uuid4()),)
            )
            (journal_id,) = self._database.execute("SELECT id FROM journal").fetchone()
            self.journal_id = UUID(journal_id)
            newest = self._database.execute(
                "SELECT sequence, age FROM entries ORDER BY sequence DESC LIMIT 1"
            ).fetchone()
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise JournalInUse(
                    f"the journal {self._file} is in use: a machine client runs with it already"
                ) from None
            raise JournalError(f"the journal {self._file} cannot be opened: {error}") from None
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise JournalError(
                f"the journal {self._file} is damaged ({error}): move it away, and a new one is "
                "begun, to which all that is open now is unknown"
            ) from None
        self.sequence: int = newest[0] if newest else 0
        self._age_at_opening: float = newest[1] if newest else 0.0
        self._opened_at = self._clock()

    def find(self, command_id: UUID) -> Entry | None:
        """The entry of a command, or None."""
        try:
            row = self._database.execute(
                "SELECT state, fingerprint, outcome FROM entries WHERE command_id = ?",
                (command_id.bytes,),
            ).fetchone()
        except sqlite3.Error as error:
            raise JournalError(f"the machine's journal cannot be read: {error}") from error
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
        try:
            self._write(entries, flush=flush)
        except sqlite3.Error as error:
            raise JournalError(f"the machine's journal cannot be written: {error}") from error
        self.sequence = max(entry.sequence for entry in entries)

    def forget(self, older_than: float) -> None:
        """Delete what is older, in seconds; but never the highest number."""
        try:
            self._database.execute(
                "DELETE FROM entries WHERE age < ? AND sequence < ?",
                (self._age() - older_than, self.sequence),
            )
        except sqlite3.Error as error:
            raise JournalError(f"the machine's journal cannot be written: {error}") from error

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _check_version(self) -> None:
        if self._version() > SCHEMA_VERSION:
            raise JournalError(
                f"the journal {self._file} was written by a newer machine client (its version is "
                f"{self._version()}, this one knows {SCHEMA_VERSION}): install that one again, or "
                "move the journal away, and all that is open now is unknown"
            )

    def _version(self) -> int:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _migrate(self) -> None:
        """Bring the tables to today's form, all of the way or not at all."""
        missing = _MIGRATIONS[self._version() :]
        if missing:
            script = "".join(missing)
            self._database.executescript(
                f"BEGIN IMMEDIATE;{script}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
            )

    def _age(self) -> float:
        """How long this journal has been open in all its life, as far as its entries know."""
        return self._age_at_opening + self._clock() - self._opened_at

    def _write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        if flush:
            # With a write-ahead log, FULL flushes the log at every commit (SQLite, pragma.html).
            self._database.execute("PRAGMA synchronous = FULL")
        try:
            self._replace(entries)
        finally:
            if flush:
                self._database.execute("PRAGMA synchronous = NORMAL")

    def _replace(self, entries: Sequence[NumberedEntry]) -> None:
        statement = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)"
        age = self._age()
        rows = [_row(entry, age) for entry in entries]
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


def _row(numbered: NumberedEntry, age: float) -> tuple[bytes, int, str, str, str | None, float]:
    entry = numbered.entry
    return (
        numbered.command_id.bytes,
        numbered.sequence,
        entry.state,
        entry.fingerprint,
        None if entry.outcome is None else entry.outcome.model_dump_json(),
        age,
    )
