"""Where entries are kept: whole batches or nothing, and never a number twice."""

import sqlite3
from pathlib import Path
from uuid import UUID

import pytest

from machine_client.journal import Entry, EntryState, NumberedEntry
from machine_client.journal_file import JournalFile

INTENT = Entry(EntryState.INTENT, "f", None)
A, B, C = (UUID(int=number) for number in (0xA, 0xB, 0xC))


def test_later_entry_of_a_command_replaces_the_earlier_one(tmp_path: Path) -> None:
    storage = JournalFile(tmp_path / "journal")
    storage.write([NumberedEntry(1, A, INTENT)], flush=True)
    storage.write([NumberedEntry(2, A, Entry(EntryState.TOMBSTONE, "", None))], flush=False)
    assert storage.find(A) == Entry(EntryState.TOMBSTONE, "", None)
    assert storage.sequence == 2
    storage.close()


def test_batch_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    storage = JournalFile(tmp_path / "journal")
    storage.write([NumberedEntry(1, A, INTENT)], flush=False)
    storage._database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.sequence = 3"
        " BEGIN SELECT raise(FAIL, 'the disk is full'); END"
    )
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        storage.write([NumberedEntry(2, B, INTENT), NumberedEntry(3, C, INTENT)], flush=False)
    assert (storage.find(B), storage.find(C), storage.sequence) == (None, None, 1)
    storage._database.execute("DROP TRIGGER full")
    storage.write([NumberedEntry(2, B, INTENT)], flush=True)
    assert storage.find(B) == INTENT
    storage.close()
    again = JournalFile(tmp_path / "journal")
    assert (again.sequence, again.find(B)) == (2, INTENT)
    again.close()


def test_forgetting_keeps_the_highest_number(tmp_path: Path) -> None:
    storage = JournalFile(tmp_path / "journal")
    storage.write([NumberedEntry(1, A, INTENT), NumberedEntry(2, B, INTENT)], flush=False)
    storage.forget(-1)
    assert (storage.find(A), storage.find(B)) == (None, INTENT)
    storage.close()
    again = JournalFile(tmp_path / "journal")
    assert again.sequence == 2
    again.close()
