"""A machine client whose power a test can cut: its disk goes back to the last flush, and it boots.

The program is today's, but that it keeps a copy of its journal's files after each write that it was
to flush: what is written later is what a power cut may take.  That such a write reaches the disk is
proven in `tests/machine_client/journal/test_file_crashes.py`.
"""

import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from machine_client.__main__ import main as farhand_machine
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import NumberedEntry

PROGRAM = "farhand-machine-with-copies"
"""The name that `tests.forked_programs` knows it by."""

_FLUSHED, _BOOT = "flushed", "boot"
_FILES = "journal*.sqlite3*"


def cut_power(state: Path) -> None:
    """Take the journal of a client that was killed back to its last flush, and boot its machine.

    Without a flush it is gone: a file that was never flushed need not be there.
    """
    for file in state.glob(_FILES):
        file.unlink()
    copies = sorted((state / _FLUSHED).glob("[0-9]*[0-9]"))
    for file in copies[-1].iterdir() if copies else ():
        shutil.copy(file, state)
    (state / _BOOT).write_text(str(uuid4()))


def main() -> None:
    """Be the machine client, keep what it has flushed, and know of boots."""
    kept_write = JournalFile.write

    def write(self: JournalFile, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
        kept_write(self, entries, flush=flush)
        if flush:
            _keep(self._file, self.sequence)

    JournalFile.write = write  # type: ignore[method-assign]
    boot = Path(sys.argv[sys.argv.index("--state-dir") + 1]) / _BOOT
    if boot.exists():
        connection: Any = import_module("machine_client.link.connection")
        connection.boot_id = boot.read_text
    farhand_machine()


def _keep(journal: Path, sequence: int) -> None:
    """Copy the files, so that a kill meanwhile leaves the copy before."""
    directory = journal.parent / _FLUSHED
    before = [*directory.glob("*")]
    begun = directory / "begun"
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir(parents=True)
    for file in journal.parent.glob(f"{journal.name}*"):
        shutil.copyfile(file, begun / file.name)
    begun.rename(directory / f"{sequence:020}")
    for each in before:
        shutil.rmtree(each, ignore_errors=True)
