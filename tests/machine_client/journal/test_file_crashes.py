"""The journal's file through kills, power cuts and full disks: what was told stays true."""

import signal
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal, JournalError
from schemas.inputs.outcomes import Completed, Failed, Point, Unknown
from tests.machine_client.journals import journal_in, other_process

DONE = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
COMMAND = UUID(int=0xA)
KILL_SELF = f"os.kill(os.getpid(), {signal.SIGKILL})"


def test_killed_between_intent_and_end_the_outcome_is_unknown(file: Path) -> None:
    killed = other_process(
        f"journal.intend(uuid.UUID(int={COMMAND.int}), 'f')\n{KILL_SELF}",
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
        f"{KILL_SELF}",
        file,
    )
    killed.communicate()
    journal = journal_in(file)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == DONE
    journal.close()


def test_keyed_intent_action_and_tombstone_are_flushed_and_the_rest_is_not(
    file: Path,
) -> None:
    """A step that flushes fails where nothing can be flushed, and then leaves nothing behind."""
    tried = other_process(
        "from machine_client.journal.journal import EntryState\n"
        "from schemas.inputs.outcomes import Expired, Unknown\n"
        "from tests.machine_client.flushes import forbid_flushes\n"
        "running, *ids = [uuid.UUID(int=number) for number in range(6)]\n"
        "begun = Unknown(injected_at_least=3)\n"
        "journal.intend(ids[0], 'f'); journal.close()\n"
        "journal = journal_in(Path(sys.argv[1]))\n"
        "journal.mark()  # the head of a new log is flushed once, whatever is written\n"
        "journal.intend(running, 'f')\n"
        "forbid_flushes()\n"
        "def fails(step):\n"
        "    number = journal.position.sequence\n"
        "    try: step()\n"
        "    except Exception as error:\n"
        "        assert 'disk I/O error' in str(error), error\n"
        "        assert journal.position.sequence == number\n"
        "        return True\n"
        "    return False\n"
        "print(fails(lambda: journal.intend(ids[3], '')),\n"
        "      fails(lambda: journal.refuse(ids[4], 'f', Expired())),\n"
        "      fails(lambda: journal.progress(ids[0], Unknown(injected_at_least=2))),\n"
        "      fails(lambda: journal.finish(ids[0], Expired())),\n"
        "      fails(journal.mark), fails(journal.settle))\n"
        "assert journal.find(ids[0]).state is EntryState.DONE\n"
        "print(fails(lambda: journal.intend(ids[1], 'f')), fails(lambda: journal.bar(ids[2])))\n"
        "assert journal.find(ids[1]) is journal.find(ids[2]) is None\n"
        "print(fails(lambda: journal.progress(running, begun)),\n"
        "      fails(lambda: journal.progress(running, begun, flush=True)))\n"
        "print(fails(journal.mark))\n",
        file,
    )
    said, _ = tried.communicate()
    assert tried.returncode == 0
    assert said.splitlines() == [" ".join(["False"] * 6), "True True", "False True", "False"]


def test_sequence_that_was_told_is_there_after_a_kill(file: Path) -> None:
    killed = other_process(
        "for number in range(300):\n"
        "    journal.intend(uuid.UUID(int=number), '')\n"
        "    done = Completed(duration_ms=1, pointer=Point(x=1, y=2))\n"
        "    journal.finish(uuid.UUID(int=number), done)\n"
        "print(journal.position.sequence, flush=True)\n"
        f"{KILL_SELF}",
        file,
    )
    told = int(killed.communicate()[0])
    journal = journal_in(file)
    assert told > 0
    assert journal.position.sequence >= told
    journal.close()


def test_mark_that_was_told_is_there_after_a_kill(file: Path) -> None:
    killed = other_process(
        f"journal.mark(); print(journal.mark().sequence); sys.stdout.flush()\n{KILL_SELF}", file
    )
    assert int(killed.communicate()[0]) == 2
    again = journal_in(file)
    assert again.position.sequence == 2
    again.close()


def test_progress_that_was_noted_is_there_after_a_kill(file: Path) -> None:
    killed = other_process(
        f"command = uuid.UUID(int={COMMAND.int}); journal.intend(command, 'f')\n"
        "journal.progress(command, Unknown(injected_at_least=41))\n"
        f"journal.progress(command, Unknown(injected_at_least=42))\n{KILL_SELF}",
        file,
    )
    killed.communicate()
    journal = journal_in(file)
    entry = journal.find(COMMAND)
    assert entry is not None
    assert entry.final_outcome() == Unknown(injected_at_least=42)
    assert not journal.intend(COMMAND, "f")
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
    with pytest.raises(JournalError, match="full"):
        journal.settle()
    told = journal.position.sequence
    with pytest.raises(JournalError, match="full"):
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
