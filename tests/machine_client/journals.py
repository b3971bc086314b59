"""Journals on disk, as the machine client opens them, and in memory, where a test sees more."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Entry, Journal, JournalError, NumberedEntry

PROJECT = Path(__file__).parents[2]


def journal_in(file: Path) -> Journal:
    """The journal in this file, which is made where there is none."""
    return Journal(JournalFile(file))


def other_process(script: str, file: Path) -> "subprocess.Popen[str]":
    """A Python that has opened a journal on the file as ``journal`` and runs the script."""
    prelude = (
        "import os, sys, uuid; from pathlib import Path\n"
        "from schemas.inputs.outcomes import Completed, Point, Unknown\n"
        "from tests.machine_client.journals import journal_in\n"
        "journal = journal_in(Path(sys.argv[1]))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + script, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )


class DiskFullError(JournalError):
    """What a full disk raises, in memory."""


class JournalMemory:
    """See `machine_client.journal.journal.JournalStorage`: a disk that a test can fill and cut off.

    What is written outlives the journal above it.  ``lose_power`` takes it back to the last flush;
    while ``is_full``, nothing can be written.  ``now`` is its clock, in seconds.
    """

    def __init__(self) -> None:
        self.journal_id = uuid4()
        self.sequence = 0
        self.now = 0.0
        self.is_full = self.is_closed = False
        self.flushes: list[bool] = []
        """Of each write, whether it was to be flushed."""
        self._kept: dict[UUID, tuple[NumberedEntry, float]] = {}
        self._flushed = self._kept

    def find(self, command_id: UUID) -> Entry | None:
        found = self._kept.get(command_id)
        return None if found is None else found[0].entry

    def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        if self.is_full:
            raise DiskFullError
        assert [each.sequence for each in entries] == list(
            range(self.sequence + 1, self.sequence + 1 + len(entries))
        )
        self._kept = self._kept | {each.command_id: (each, self.now) for each in entries}
        self._count()
        self.flushes.append(flush)
        if flush:
            self._flushed = self._kept

    def forget(self, older_than: float) -> None:
        self._kept = {
            command_id: (entry, changed_at)
            for command_id, (entry, changed_at) in self._kept.items()
            if changed_at >= self.now - older_than or entry.sequence == self.sequence
        }

    def close(self) -> None:
        self.is_closed = True

    def lose_power(self) -> None:
        """Be what a disk is after a power cut at its worst."""
        self._kept = self._flushed
        self._count()

    def _count(self) -> None:
        self.sequence = max((entry.sequence for entry, _ in self._kept.values()), default=0)
