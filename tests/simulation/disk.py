"""The machine's disk: what a process has written, and what of it has been flushed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from uuid import UUID, uuid4

from machine_client.journal.journal import Entry, EntryState, NumberedEntry


class Killed(BaseException):
    """SIGKILL: nothing catches it, and nothing is put in order."""


@dataclass(frozen=True)
class Copy:
    """The journal's file as it was at one moment."""

    journal_id: UUID
    sequence: int
    entries: dict[UUID, Entry]


def empty() -> Copy:
    """A new journal."""
    return Copy(uuid4(), 0, {})


class Disk:
    """One journal's file.

    Writes are in order: a power cut takes the last ones, back to the last flush at most.
    """

    def __init__(self) -> None:
        self.replace_with(empty())

    def replace_with(self, copy: Copy) -> None:
        """Put another file in its place; all of it is flushed."""
        self.journal_id = copy.journal_id
        self.sequence = self._flushed_sequence = copy.sequence
        self.entries = dict(copy.entries)
        self._flushed = dict(copy.entries)
        self._unflushed: list[Sequence[NumberedEntry]] = []

    def copy(self) -> Copy:
        """The file as it is read now."""
        return Copy(self.journal_id, self.sequence, dict(self.entries))

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        """One transaction."""
        for sequence, command_id, entry in entries:
            self.entries[command_id] = entry
            self.sequence = max(self.sequence, sequence)
        self._unflushed.append(entries)
        if flush:
            self._keep(len(self._unflushed))

    def lose_power(self, random: Random) -> None:
        """Lose what was not flushed, or some of the last of it."""
        self._keep(random.randint(0, len(self._unflushed)))
        self._unflushed.clear()
        self.entries = dict(self._flushed)
        self.sequence = self._flushed_sequence

    def forget(self) -> None:
        """Delete what was written so far, which is old by now; links keep their marks."""
        for entries in (self.entries, self._flushed):
            old = [each for each, entry in entries.items() if entry.state is not EntryState.MARK]
            for command_id in old:
                del entries[command_id]
        self._unflushed.clear()

    def intents(self) -> list[UUID]:
        """The commands that have begun and not ended, as far as the file says."""
        return [
            command_id
            for command_id, entry in self.entries.items()
            if entry.state is EntryState.INTENT
        ]

    def _keep(self, transactions: int) -> None:
        for entries in self._unflushed[:transactions]:
            for sequence, command_id, entry in entries:
                self._flushed[command_id] = entry
                self._flushed_sequence = max(self._flushed_sequence, sequence)
        del self._unflushed[:transactions]


class SimulatedStorage:
    """The file as one process has it open; ``step`` may kill that process before and after."""

    def __init__(self, disk: Disk, step: Callable[[], None]) -> None:
        self.journal_id = disk.journal_id
        self._disk = disk
        self._step = step

    @property
    def sequence(self) -> int:
        """The highest number."""
        return self._disk.sequence

    @sequence.setter
    def sequence(self, _value: int) -> None:
        raise AttributeError("the disk counts")

    def find(self, command_id: UUID) -> Entry | None:
        """The entry of a command, or None."""
        return self._disk.entries.get(command_id)

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        """Write a transaction, if nothing kills the process before."""
        self._step()
        self._disk.write(entries, flush=flush)
        self._step()

    def forget(self, older_than: float) -> None:
        """Nothing is that old."""

    def close(self) -> None:
        """Nothing is to be let go of."""
