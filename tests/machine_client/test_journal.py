"""The journal on a real disk: what it knows, what survives, what it says when it cannot be used."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from machine_client import journal as journal_module
from machine_client.journal import EntryState, Journal
from machine_client.journal_file import JournalError, JournalFile
from schemas.outcomes import Completed, Expired, Failed, NotCarriedOut, Point, Refused, Unknown
from tests.machine_client.journals import journal_in

DONE = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
COMMAND = UUID(int=0xA)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite3"


@pytest.fixture
def journal(file: Path) -> Iterator[Journal]:
    journal = journal_in(file)
    yield journal
    journal.close()


def other_process(script: str, file: Path) -> subprocess.Popen[str]:
    """A Python that has opened a journal on the file as ``journal`` and runs the script."""
    prelude = (
        "import os, sys, uuid; from pathlib import Path\n"
        "from machine_client.journal import Journal\n"
        "from machine_client.journal_file import JournalFile\n"
        "from schemas.outcomes import Completed, Point\n"
        "journal = Journal(JournalFile(Path(sys.argv[1])))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", prelude + script, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_command_that_was_never_seen_is_not_known(journal: Journal) -> None:
    assert journal.find(COMMAND) is None


def test_intent_without_an_end_means_unknown(journal: Journal) -> None:
    assert journal.intend(COMMAND, "f")
    entry = journal.find(COMMAND)
    assert entry is not None
    assert (entry.state, entry.fingerprint) == (EntryState.INTENT, "f")
    assert entry.final_outcome() == Unknown()


@pytest.mark.parametrize(
    "outcome",
    [
        DONE,
        Failed(code="display_lost", message="gone", injected_at_least=3),
        Refused(code="outside", message="no", loc=("body", "x"), ctx={"displays": [{"x": 0}]}),
    ],
)
def test_finished_command_keeps_its_outcome_whole(
    journal: Journal, outcome: Completed | Failed | Refused
) -> None:
    journal.intend(COMMAND, "f")
    journal.finish(COMMAND, outcome)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.state is EntryState.DONE
    assert entry.final_outcome() == outcome


def test_refused_command_keeps_its_outcome(journal: Journal) -> None:
    assert journal.refuse(COMMAND, "f", Expired())
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == Expired()


def test_barred_command_can_never_be_intended(journal: Journal) -> None:
    assert journal.bar(COMMAND)
    assert not journal.intend(COMMAND, "f")
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.state is EntryState.TOMBSTONE
    assert entry.final_outcome() == NotCarriedOut()


def test_id_is_taken_once_whatever_became_of_it(journal: Journal) -> None:
    journal.intend(COMMAND, "f")
    assert not journal.intend(COMMAND, "f")
    assert not journal.bar(COMMAND)
    journal.finish(COMMAND, DONE)
    assert not journal.intend(COMMAND, "f")
    assert not journal.refuse(COMMAND, "f", Expired())
    assert not journal.bar(COMMAND)


def test_every_change_has_a_higher_sequence(journal: Journal) -> None:
    seen = [journal.position.sequence]
    for change in (
        lambda: journal.intend(COMMAND, "f"),
        lambda: journal.finish(COMMAND, DONE),
        lambda: journal.bar(uuid4()),
        lambda: journal.refuse(uuid4(), "f", Expired()),
        journal.mark,
    ):
        change()
        seen.append(journal.position.sequence)
    assert seen == sorted(set(seen))


def test_id_sequence_and_entries_survive_reopening(file: Path) -> None:
    first = journal_in(file)
    first.intend(COMMAND, "f")
    first.finish(COMMAND, DONE)
    position = first.position
    first.close()
    second = journal_in(file)
    entry = second.find(COMMAND)
    assert second.position == position
    assert entry is not None
    assert entry.final_outcome() == DONE
    second.close()


@pytest.mark.parametrize(
    "known_again",
    [
        lambda journal: journal.intend(COMMAND, "f"),
        lambda journal: journal.bar(COMMAND),
        lambda journal: journal.refuse(COMMAND, "f", Expired()),
    ],
)
def test_sequence_does_not_go_back_at_reopening_after_an_id_came_again(
    file: Path, known_again: Callable[[Journal], bool]
) -> None:
    first = journal_in(file)
    first.intend(COMMAND, "f")
    assert not known_again(first)
    said = first.position.sequence
    first.close()
    second = journal_in(file)
    assert second.position.sequence >= said
    second.close()


def test_another_file_is_another_journal(tmp_path: Path) -> None:
    one, other = journal_in(tmp_path / "one"), journal_in(tmp_path / "other")
    assert one.position.id != other.position.id
    one.close()
    other.close()


def test_pruning_forgets_what_is_old_and_never_goes_back(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "KEPT_SECONDS", -1)
    monkeypatch.setattr(journal_module, "PRUNE_EVERY", 0.0)
    first = journal_in(file)
    first.intend(COMMAND, "f")
    first.finish(COMMAND, DONE)
    last = uuid4()
    first.intend(last, "f")
    first.finish(last, DONE)
    first.settle()
    assert first.find(COMMAND) is None
    position = first.position
    first.close()
    second = journal_in(file)
    assert second.position == position
    second.close()


def test_pruning_keeps_what_may_still_be_asked_about(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "PRUNE_EVERY", 0.0)
    for command_id in (COMMAND, uuid4()):
        journal.intend(command_id, "f")
        journal.finish(command_id, DONE)
    assert journal.find(COMMAND) is not None
    assert journal_module.KEPT_SECONDS >= 7 * 24 * 3600


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


def test_killed_between_intent_and_end_the_outcome_is_unknown(file: Path) -> None:
    killed = other_process(
        f"journal.intend(uuid.UUID(int={COMMAND.int}), 'f')\n"
        f"os.kill(os.getpid(), {signal.SIGKILL})",
        file,
    )
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    journal = journal_in(file)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == Unknown()
    assert not journal.intend(COMMAND, "f")
    assert journal.position.sequence == 1
    journal.close()


def test_killed_after_the_end_the_outcome_is_known(file: Path) -> None:
    killed = other_process(
        f"command = uuid.UUID(int={COMMAND.int}); journal.intend(command, 'f')\n"
        "journal.finish(command, Completed(duration_ms=1.5, pointer=Point(x=3, y=4)))\n"
        f"os.kill(os.getpid(), {signal.SIGKILL})",
        file,
    )
    killed.communicate()
    journal = journal_in(file)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == DONE
    journal.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows what is flushed")
def test_keyed_intent_and_tombstone_are_flushed_and_the_rest_is_not(file: Path) -> None:
    script = (
        "import os, sys, uuid; from pathlib import Path\n"
        "from machine_client.journal import Journal\n"
        "from machine_client.journal_file import JournalFile\n"
        "from schemas.outcomes import Expired\n"
        "journal = Journal(JournalFile(Path(sys.argv[1])))\n"
        "ids = [uuid.UUID(int=number) for number in range(5)]\n"
        "steps = [lambda: journal.intend(ids[0], 'f'), lambda: journal.bar(ids[1]),\n"
        "         lambda: journal.intend(ids[2], ''),\n"
        "         lambda: journal.refuse(ids[3], 'f', Expired()),\n"
        "         lambda: journal.finish(ids[0], Expired())]\n"
        "for number, step in enumerate(steps):\n"
        "    os.path.exists(f'/step-{number}')\n"
        "    step()\n"
        "os.path.exists('/step-end')\n"
    )
    traced = subprocess.run(
        [
            *("strace", "-f", "-e", "trace=fsync,fdatasync,/stat", "--"),
            *(sys.executable, "-c", script, str(file)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in traced.stderr and "not permitted" in traced.stderr:
        pytest.skip("this container forbids tracing")
    assert traced.returncode == 0, traced.stderr[-2000:]
    parts = re.split(r'"/step-[^"]*"', traced.stderr)[1:]
    flushed = ["sync(" in part for part in parts[:5]]
    assert flushed == [True, True, False, False, False]


def test_sequence_that_was_told_is_there_after_a_kill(file: Path) -> None:
    killed = other_process(
        "for number in range(300):\n"
        "    journal.intend(uuid.UUID(int=number), '')\n"
        "    done = Completed(duration_ms=1, pointer=Point(x=1, y=2))\n"
        "    journal.finish(uuid.UUID(int=number), done)\n"
        "print(journal.position.sequence, flush=True)\n"
        f"os.kill(os.getpid(), {signal.SIGKILL})",
        file,
    )
    told = int(killed.communicate()[0])
    journal = journal_in(file)
    assert told > 0
    assert journal.position.sequence >= told
    journal.close()


def test_full_disk_is_got_over_once_there_is_room_again(file: Path) -> None:
    storage = JournalFile(file)
    journal = Journal(storage)
    # SQLite's own bound stands for the disk's: the file may not grow from here.
    storage._database.execute("PRAGMA max_page_count = 1")
    long = Failed(code="display_lost", message="x" * 1000, injected_at_least=0)
    for number in range(1, 101):
        journal.intend(UUID(int=number), "")
        journal.finish(UUID(int=number), long)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.settle()
    told = journal.position.sequence
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.intend(large := uuid4(), "f" * 100_000)
    assert journal.find(large) is None
    storage._database.execute("PRAGMA max_page_count = 100000")
    assert told == 0
    assert journal.intend(keyed := uuid4(), "f")
    journal.settle()
    position = journal.position
    storage._database.close()  # as a crash would
    again = journal_in(file)
    assert again.position == position
    assert again.find(UUID(int=100)) is not None
    assert again.find(keyed) is not None
    again.close()


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


def test_state_directory_is_for_its_owner_alone(journal: Journal, file: Path) -> None:
    assert journal.position.sequence == 0
    assert file.parent.stat().st_mode & 0o077 == 0


def test_what_no_key_repeats_is_told_of_once_it_cannot_be_lost(file: Path) -> None:
    journal = journal_in(file)
    journal.intend(COMMAND, "")
    journal.finish(COMMAND, DONE)
    assert journal.position.sequence == 0
    assert not journal.intend(COMMAND, "")
    journal.settle()
    assert journal.position.sequence == 1
    journal.close()
    again = journal_in(file)
    assert again.position.sequence == 1
    again.close()


def test_keyed_intent_does_not_wait_for_what_gathered_before_it(file: Path) -> None:
    journal = journal_in(file)
    journal.intend(uuid4(), "")
    journal.intend(COMMAND, "f")
    assert journal.position.sequence == 1
    journal.close()
    again = journal_in(file)
    assert again.position.sequence == 2
    again.close()


def test_progress_is_told_where_the_end_is_not(journal: Journal) -> None:
    journal.intend(COMMAND, "f")
    journal.progress(COMMAND, 7)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert (entry.state, entry.fingerprint) == (EntryState.INTENT, "f")
    assert entry.final_outcome() == Unknown(injected_at_least=7)
    journal.finish(COMMAND, DONE)
    journal.progress(COMMAND, 8)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == DONE


def test_mark_counts_up_and_outlives_the_process(file: Path) -> None:
    journal = journal_in(file)
    assert [journal.mark(), journal.mark()] == [1, 2]
    journal._storage.close()  # as a crash would
    again = journal_in(file)
    assert again.position.sequence == 2
    again.close()


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "intended"])
def test_what_gathers_is_bounded_whatever_becomes_of_it(journal: Journal, refused: bool) -> None:
    for _ in range(3 * journal_module.MAX_UNWRITTEN):
        if refused:
            journal.refuse(uuid4(), "", Expired())
        else:
            journal.intend(uuid4(), "")
        assert len(journal._unwritten) < journal_module.MAX_UNWRITTEN
    assert journal.position.sequence == 3 * journal_module.MAX_UNWRITTEN
