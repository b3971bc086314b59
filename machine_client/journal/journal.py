"""What this machine has begun and ended, so that no command is ever begun twice.

One entry for each command id: INTENT before the first event, DONE with the outcome after the last,
or TOMBSTONE for an id that must never be carried out.  A journal has a random id and a sequence
number that grows with every entry, so that the server notices another journal, or an old copy.
Marks are entries with random ids of their own: of two copies that were both used, each lacks the
marks of the other, whatever their numbers say.

What no key can repeat is not worth a wait: its entries gather in memory, and ``settle`` writes
them when there is time.  Until then they have no number, so none that was told can go back.

No I/O here: where entries are kept is the business of a :class:`JournalStorage`, on a real machine
`machine_client.journal.file`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import NamedTuple, Protocol
from uuid import UUID, uuid4

from schemas.inputs.outcomes import NotCarriedOut, Outcome, Unknown
from schemas.link.messages import JournalPosition

KEPT_SECONDS = 8 * 24 * 3600
"""How long an entry stays: a day more than the seven that the protocol demands.

Only the time that the machine client runs counts, so that no clock that is set wrong, or right,
makes an entry old in a moment.
"""

PRUNE_EVERY = 3600.0

MAX_RUNNING = 16
"""How many commands may be begun whose end was never noted, as after a mistake of ours."""

MAX_UNWRITTEN = 256
"""How many entries that no key can repeat may gather in memory."""


class JournalError(Exception):
    """The journal cannot be used; the message says why, for a person."""


class EntryState(StrEnum):
    """How far a command came; or a mark, which no command made and only counts the number up."""

    INTENT = "INTENT"
    DONE = "DONE"
    TOMBSTONE = "TOMBSTONE"
    MARK = "MARK"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the journal knows of one command.

    The outcome of an INTENT, where there is one, is how it ended if nothing more is heard of it:
    how much was injected at least, or which of several actions are done.
    """

    state: EntryState
    fingerprint: str
    outcome: Outcome | None

    def final_outcome(self) -> Outcome:
        """What this entry means for a command that does not run now."""
        if self.outcome is not None:
            return self.outcome
        return NotCarriedOut() if self.state is EntryState.TOMBSTONE else Unknown()


class NumberedEntry(NamedTuple):
    """An entry as it is kept."""

    sequence: int
    command_id: UUID
    entry: Entry


class Mark(NamedTuple):
    """A mark's number and its random id."""

    sequence: int
    id: UUID


class JournalStorage(Protocol):
    """Keeps the entries of one journal.

    ``sequence`` is the highest number of all that are kept.  All but ``close`` raise
    :class:`JournalError` where the storage fails, as on a full disk.
    """

    journal_id: UUID
    sequence: int

    def find(self, command_id: UUID) -> Entry | None:
        """The entry of a command, or None."""

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        """Put entries in the place of what was there; all of them or, where it raises, none.

        What is written outlives this process; with ``flush`` it outlives a power cut too.
        """

    def forget(self, older_than: float) -> None:
        """Delete what is older, in seconds; but never the highest number."""

    def close(self) -> None:
        """Let go of the storage."""


class Journal:
    """The journal of one machine; each method is atomic, whichever thread calls it.

    Where the storage fails they raise :class:`JournalError`; until a later write succeeds,
    ``trouble`` says why.
    """

    def __init__(self, storage: JournalStorage) -> None:
        self._storage = storage
        self._lock = Lock()
        self._unwritten: dict[UUID, Entry] = {}
        self._running: dict[UUID, str] = {}
        self._prune_at = 0.0
        self.trouble: str | None = None

    @property
    def position(self) -> JournalPosition:
        """Which journal this is and how far it has come, whatever happens to this process."""
        return JournalPosition(id=self._storage.journal_id, sequence=self._storage.sequence)

    def find(self, command_id: UUID) -> Entry | None:
        """What is known of a command, or None."""
        with self._lock:
            return self._find(command_id)

    def intend(self, command_id: UUID, fingerprint: str, so_far: Outcome | None = None) -> bool:
        """Note that a command begins; on disk before this returns, if a key can repeat it.

        ``so_far`` is how it ended if nothing more is noted.  False, and nothing noted, where the
        journal knows the command already.
        """
        if not self._begin_entry(command_id, Entry(EntryState.INTENT, fingerprint, so_far)):
            return False
        with self._lock:
            self._running[command_id] = fingerprint
            if len(self._running) > MAX_RUNNING:
                del self._running[next(iter(self._running))]
        return True

    def finish(self, command_id: UUID, outcome: Outcome) -> None:
        """Note how a command that was intended ended; nothing else can end, and nothing twice.

        Not flushed: should it be lost in a power cut, the intent stands, and the outcome is
        honestly unknown.
        """
        with self._lock:
            self._running.pop(command_id, None)
            intended = self._find(command_id)
            if intended is None or intended.state is not EntryState.INTENT:
                return
            done = Entry(EntryState.DONE, intended.fingerprint, outcome)
            if command_id in self._unwritten:
                self._unwritten[command_id] = done
                return
            try:
                self._write({command_id: done})
            except JournalError:
                # While this process lives it knows the end, and writes it when there is room.
                if len(self._unwritten) < MAX_UNWRITTEN:
                    self._unwritten[command_id] = done
                raise

    def progress(self, command_id: UUID, so_far: Outcome, *, flush: bool = False) -> None:
        """Note how a running command ended if nothing more is noted.

        With ``flush`` it is on disk before this returns; of what no key can repeat, nothing is.
        """
        with self._lock:
            if fingerprint := self._running.get(command_id):
                entry = Entry(EntryState.INTENT, fingerprint, so_far)
                self._write({command_id: entry}, flush=flush)

    def refuse(self, command_id: UUID, fingerprint: str, outcome: Outcome) -> bool:
        """Note the outcome of a command that was not begun and never will be; as ``intend``."""
        return self._begin_entry(
            command_id, Entry(EntryState.DONE, fingerprint, outcome), flush=False
        )

    def bar(self, command_id: UUID) -> bool:
        """Note that a command must never be carried out, on disk at once; as ``intend``."""
        with self._lock:
            if self._find(command_id) is not None:
                return False
            self._write({command_id: Entry(EntryState.TOMBSTONE, "", None)}, flush=True)
            return True

    def mark(self) -> Mark:
        """Count the number up, with an id that no copy made before has."""
        mark = uuid4()
        with self._lock:
            self._write({mark: Entry(EntryState.MARK, "", None)})
            return Mark(self._storage.sequence, mark)

    def has_mark(self, mark: UUID) -> bool:
        """Whether this journal, or the one that it is a copy of, was marked so."""
        entry = self.find(mark)
        return entry is not None and entry.state is EntryState.MARK

    def settle(self) -> None:
        """Write what gathered, and forget what is old; for when nobody waits."""
        with self._lock:
            self._settle()
            now = time.monotonic()
            if now >= self._prune_at:
                self._prune_at = now + PRUNE_EVERY
                self._storage.forget(KEPT_SECONDS)

    def close(self) -> None:
        """Write what gathered, and let go of the storage."""
        with self._lock:
            try:
                self._settle()
            finally:
                self._storage.close()

    def _find(self, command_id: UUID) -> Entry | None:
        return self._unwritten.get(command_id) or self._storage.find(command_id)

    def _begin_entry(self, command_id: UUID, entry: Entry, *, flush: bool = True) -> bool:
        with self._lock:
            if self._find(command_id) is not None:
                return False
            if entry.fingerprint:
                self._write({command_id: entry}, flush=flush)
                return True
            if len(self._unwritten) >= MAX_UNWRITTEN:
                self._settle()  # first, as a full disk must not let them gather without end
            self._unwritten[command_id] = entry
            return True

    def _settle(self) -> None:
        if self._unwritten:
            self._write(self._unwritten)
            self._unwritten.clear()

    def _write(self, entries: dict[UUID, Entry], *, flush: bool = False) -> None:
        numbers = range(self._storage.sequence + 1, self._storage.sequence + 1 + len(entries))
        numbered = [
            NumberedEntry(number, command_id, entry)
            for number, (command_id, entry) in zip(numbers, entries.items(), strict=True)
        ]
        try:
            self._storage.write(numbered, flush=flush)
        except JournalError as error:
            self.trouble = str(error)
            raise
        self.trouble = None
