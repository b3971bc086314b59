"""Where entries are kept: whole batches or nothing, never a number twice, and for one alone."""

import os
import re
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from machine_client.journal import file as journal_file
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import (
    KEPT_SECONDS,
    Entry,
    EntryState,
    JournalError,
    NumberedEntry,
)
from tests.machine_client.journals import journal_in, other_process

INTENT = Entry(EntryState.INTENT, "f", None)
A, B, C = (UUID(int=number) for number in (0xA, 0xB, 0xC))


def test_later_entry_of_a_command_replaces_the_earlier_one(tmp_path: Path) -> None:
    storage = JournalFile(tmp_path / "journal")
    storage.write([NumberedEntry(1, A, INTENT)], flush=True)
    storage.write([NumberedEntry(2, A, Entry(EntryState.TOMBSTONE, "", None))], flush=False)
    assert storage.find(A) == Entry(EntryState.TOMBSTONE, "", None)
    assert storage.sequence == 2
    storage.close()


def test_directory_that_others_could_write_into_is_closed_to_them_and_named(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.parent.chmod(0o777)
    for _ in range(2):
        JournalFile(file).close()
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o755
    assert caplog.messages == [f"others could write into {file.parent}, and cannot any more"]


def test_batch_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    storage = JournalFile(tmp_path / "journal")
    storage.write([NumberedEntry(1, A, INTENT)], flush=False)
    storage._database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.sequence = 3"
        " BEGIN SELECT raise(FAIL, 'the disk is full'); END"
    )
    with pytest.raises(JournalError, match="cannot be written: the disk is full"):
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


def test_another_file_is_another_journal(tmp_path: Path) -> None:
    one, other = journal_in(tmp_path / "one"), journal_in(tmp_path / "other")
    assert one.position.id != other.position.id
    one.close()
    other.close()


def test_journal_of_another_process_is_refused_with_a_sentence(file: Path) -> None:
    owner = other_process("print('open', flush=True); sys.stdin.read()", file)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        with pytest.raises(JournalError, match="is in use: a machine client runs with it already"):
            journal_in(file)
    finally:
        owner.communicate()
    journal_in(file).close()


@pytest.mark.parametrize("content", [b"this is no database at all" * 100, os.urandom(8192)])
def test_corrupt_file_is_refused_with_a_sentence(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(JournalError, match=re.escape(str(file))):
        journal_in(file)


def test_damaged_journal_is_refused_with_a_sentence(file: Path) -> None:
    journal = journal_in(file)
    for _ in range(200):
        journal.bar(uuid4())
    journal.close()
    damaged = bytearray(file.read_bytes())
    damaged[100:] = b"\xff" * (len(damaged) - 100)
    file.write_bytes(damaged)
    with pytest.raises(JournalError, match=re.escape(str(file))):
        journal_in(file)


@pytest.mark.parametrize("broken_id", ["", "not-a-uuid"])
def test_journal_without_a_proper_id_is_refused_with_a_sentence(file: Path, broken_id: str) -> None:
    journal_in(file).close()
    database = sqlite3.connect(file)
    database.execute("UPDATE journal SET id = ?", (broken_id,))
    database.commit()
    database.close()
    with pytest.raises(JournalError, match=re.escape(str(file))):
        journal_in(file)


def test_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a directory should be")
    with pytest.raises(JournalError, match="taken"):
        journal_in(tmp_path / "taken" / "journal.sqlite3")


def test_state_directory_is_for_its_owner_alone(file: Path) -> None:
    journal_in(file).close()
    assert file.parent.stat().st_mode & 0o077 == 0


def test_newer_journal_is_refused_with_a_sentence_and_left_as_it_is(file: Path) -> None:
    journal_in(file).close()
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    with pytest.raises(JournalError, match=r"newer machine client \(its version is 99,"):
        journal_in(file)
    assert file.read_bytes() == before


NEXT = "ALTER TABLE entries ADD COLUMN machine TEXT; UPDATE entries SET machine = 'm';"
"""What a next version of the file would have in addition."""


@pytest.mark.parametrize("step", [NEXT, f"{NEXT} DROP TABLE nowhere;"], ids=["good", "broken"])
def test_next_version_of_the_file_is_reached_all_of_the_way_or_not_at_all(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    storage = JournalFile(file)
    storage.write([NumberedEntry(1, A, INTENT)], flush=True)
    storage.close()
    monkeypatch.setattr(journal_file, "_MIGRATIONS", (*journal_file._MIGRATIONS, step))
    monkeypatch.setattr(journal_file, "SCHEMA_VERSION", journal_file.SCHEMA_VERSION + 1)
    if step != NEXT:
        with pytest.raises(JournalError, match="no such table: nowhere"):
            JournalFile(file)
        monkeypatch.undo()
    again = JournalFile(file)
    assert (again.journal_id, again.sequence, again.find(A)) == (storage.journal_id, 1, INTENT)
    again.close()
    monkeypatch.undo()
    if step == NEXT:
        with pytest.raises(JournalError, match="newer machine client"):
            JournalFile(file)


def test_entries_age_while_the_journal_is_open_whatever_the_wall_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1000.0
    storage = JournalFile(tmp_path / "journal", lambda: clock)
    storage.write([NumberedEntry(1, A, INTENT)], flush=False)
    months_later = time.time() + 90 * 24 * 3600
    monkeypatch.setattr(time, "time", lambda: months_later)
    storage.write([NumberedEntry(2, B, INTENT)], flush=False)
    storage.forget(KEPT_SECONDS)
    assert storage.find(A) == INTENT
    clock += KEPT_SECONDS - 1
    storage.write([NumberedEntry(3, C, INTENT)], flush=False)
    storage.close()
    # Another boot: the clock begins anew, and the age goes on from the last entry.
    clock = 5.0
    again = JournalFile(tmp_path / "journal", lambda: clock)
    again.forget(KEPT_SECONDS)
    assert again.find(A) == INTENT
    clock += 2
    again.forget(KEPT_SECONDS)
    assert (again.find(A), again.find(B), again.find(C)) == (None, None, INTENT)
    again.close()
