"""What a journal knows and says, on a disk and in memory alike."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from machine_client.journal import journal as journal_module
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import (
    MAX_UNWRITTEN,
    Entry,
    EntryState,
    Journal,
    JournalStorage,
    NumberedEntry,
)
from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Point,
    Refused,
    Unknown,
)
from tests.machine_client.journals import DiskFullError, JournalMemory

DONE = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
COMMAND, OTHER = UUID(int=0xA), UUID(int=0xB)
DAY = 24 * 3600.0


@pytest.fixture(params=["disk", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JournalStorage]:
    on_disk = request.param == "disk"
    storage = JournalFile(tmp_path / "journal") if on_disk else JournalMemory()
    yield storage
    storage.close()


@pytest.fixture
def journal(storage: JournalStorage) -> Journal:
    return Journal(storage)


@pytest.fixture
def memory() -> JournalMemory:
    return JournalMemory()


def known(journal: Journal, command_id: UUID = COMMAND) -> Entry:
    """What the journal knows of a command that it must know."""
    entry = journal.find(command_id)
    assert entry is not None
    return entry


def test_command_that_was_never_seen_is_not_known(journal: Journal) -> None:
    assert journal.find(COMMAND) is None


@pytest.mark.parametrize("fingerprint", ["f", ""])
def test_intent_without_an_end_means_unknown(journal: Journal, fingerprint: str) -> None:
    assert journal.intend(COMMAND, fingerprint)
    assert known(journal) == Entry(EntryState.INTENT, fingerprint, None)
    assert known(journal).final_outcome() == Unknown()


@pytest.mark.parametrize("fingerprint", ["f", ""])
@pytest.mark.parametrize(
    "outcome",
    [
        DONE,
        Failed(code="display_lost", message="gone", injected_at_least=3),
        Refused(code="outside", message="no", loc=("body", "x"), ctx={"displays": [{"x": 0}]}),
    ],
)
def test_finished_command_keeps_its_outcome_whole(
    journal: Journal, outcome: Completed | Failed | Refused, fingerprint: str
) -> None:
    journal.intend(COMMAND, fingerprint)
    journal.finish(COMMAND, outcome)
    assert known(journal) == Entry(EntryState.DONE, fingerprint, outcome)
    journal.settle()
    assert known(journal).final_outcome() == outcome


def test_refused_command_keeps_its_outcome(journal: Journal) -> None:
    assert journal.refuse(COMMAND, "f", Expired())
    assert known(journal).final_outcome() == Expired()


def test_barred_command_can_never_be_intended(journal: Journal) -> None:
    assert journal.bar(COMMAND)
    assert not journal.intend(COMMAND, "f")
    assert known(journal).state is EntryState.TOMBSTONE
    assert known(journal).final_outcome() == NotCarriedOut()


@pytest.mark.parametrize("fingerprint", ["f", ""])
def test_id_is_taken_once_whatever_became_of_it(journal: Journal, fingerprint: str) -> None:
    journal.intend(COMMAND, fingerprint)
    assert not journal.intend(COMMAND, fingerprint)
    assert not journal.bar(COMMAND)
    journal.finish(COMMAND, DONE)
    assert not journal.intend(COMMAND, fingerprint)
    assert not journal.refuse(COMMAND, fingerprint, Expired())
    assert not journal.bar(COMMAND)
    assert known(journal).final_outcome() == DONE


def test_an_end_is_final(journal: Journal) -> None:
    journal.intend(COMMAND, "f")
    journal.finish(COMMAND, DONE)
    journal.bar(OTHER)
    for command_id in (COMMAND, OTHER, unheard := uuid4()):
        journal.finish(command_id, Expired())
        journal.progress(command_id, Unknown(injected_at_least=7))
    assert known(journal).final_outcome() == DONE
    assert known(journal, OTHER).final_outcome() == NotCarriedOut()
    assert journal.find(unheard) is None


def test_every_change_has_a_higher_number(journal: Journal) -> None:
    seen = [journal.position.sequence]
    for change in (
        lambda: journal.intend(COMMAND, "f"),
        lambda: journal.progress(COMMAND, Unknown(injected_at_least=1)),
        lambda: journal.finish(COMMAND, DONE),
        lambda: journal.bar(uuid4()),
        lambda: journal.refuse(uuid4(), "f", Expired()),
        journal.mark,
    ):
        change()
        seen.append(journal.position.sequence)
    assert seen == list(range(7))


def test_id_number_and_entries_are_those_of_the_storage(
    storage: JournalStorage, journal: Journal
) -> None:
    journal.intend(COMMAND, "f")
    journal.finish(COMMAND, DONE)
    again = Journal(storage)
    assert again.position == journal.position
    assert known(again).final_outcome() == DONE


@pytest.mark.parametrize(
    "known_again",
    [
        lambda journal: journal.intend(COMMAND, "f"),
        lambda journal: journal.bar(COMMAND),
        lambda journal: journal.refuse(COMMAND, "f", Expired()),
    ],
)
def test_id_that_comes_again_does_not_change_the_number(
    journal: Journal, known_again: Callable[[Journal], bool]
) -> None:
    journal.intend(COMMAND, "f")
    said = journal.position
    assert not known_again(journal)
    assert journal.position == said


def test_mark_counts_up_whatever_else_there_is(journal: Journal) -> None:
    assert [journal.mark().sequence, journal.mark().sequence] == [1, 2]
    journal.intend(COMMAND, "f")
    assert journal.mark().sequence == journal.position.sequence == 4
    assert known(journal).state is EntryState.INTENT


def test_journal_has_its_own_marks_and_those_of_what_it_is_a_copy_of(
    storage: JournalStorage, journal: Journal
) -> None:
    first, second = journal.mark(), journal.mark()
    journal.bar(COMMAND)
    assert first.id != second.id
    for each in (journal, Journal(storage)):
        assert each.has_mark(first.id)
        assert each.has_mark(second.id)
    assert not journal.has_mark(uuid4())
    assert not journal.has_mark(COMMAND)


def test_progress_is_told_where_the_end_is_not(journal: Journal) -> None:
    journal.intend(COMMAND, "f")
    for injected in (3, 7):
        journal.progress(COMMAND, Unknown(injected_at_least=injected))
        assert known(journal) == Entry(EntryState.INTENT, "f", Unknown(injected_at_least=injected))
        assert known(journal).final_outcome() == Unknown(injected_at_least=injected)
    journal.finish(COMMAND, DONE)
    assert known(journal).final_outcome() == DONE


def test_what_no_key_repeats_is_told_of_once_it_cannot_be_lost(
    storage: JournalStorage, journal: Journal
) -> None:
    journal.intend(COMMAND, "")
    journal.finish(COMMAND, DONE)
    assert journal.position.sequence == 0
    assert not journal.intend(COMMAND, "")
    assert storage.find(COMMAND) is None
    journal.settle()
    assert journal.position.sequence == 1
    assert known(Journal(storage)).final_outcome() == DONE


def test_closing_writes_what_gathered(memory: JournalMemory) -> None:
    journal = Journal(memory)
    journal.intend(COMMAND, "")
    journal.close()
    assert memory.is_closed
    assert known(Journal(memory)).state is EntryState.INTENT


def test_keyed_intent_does_not_wait_for_what_gathered_before_it(
    storage: JournalStorage, journal: Journal
) -> None:
    journal.intend(OTHER, "")
    journal.intend(COMMAND, "f")
    assert journal.position.sequence == 1
    assert storage.find(OTHER) is None
    journal.settle()
    assert journal.position.sequence == 2


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "intended"])
def test_what_gathers_is_bounded_whatever_becomes_of_it(journal: Journal, refused: bool) -> None:
    for _ in range(3 * MAX_UNWRITTEN):
        if refused:
            journal.refuse(uuid4(), "", Expired())
        else:
            journal.intend(uuid4(), "")
        assert len(journal._unwritten) <= MAX_UNWRITTEN
    assert journal.position.sequence >= 2 * MAX_UNWRITTEN


def test_what_gathers_is_bounded_on_a_full_disk_and_written_once_there_is_room(
    memory: JournalMemory,
) -> None:
    journal = Journal(memory)
    memory.is_full = True
    for number in range(1, MAX_UNWRITTEN + 1):
        journal.intend(UUID(int=1000 + number), "")
    for command_id in (COMMAND, uuid4()):
        with pytest.raises(DiskFullError):
            journal.refuse(command_id, "", Expired())
        assert journal.find(command_id) is None
    assert len(journal._unwritten) == MAX_UNWRITTEN
    memory.is_full = False
    assert journal.refuse(COMMAND, "", Expired())
    assert memory.sequence == MAX_UNWRITTEN
    assert known(Journal(memory), UUID(int=1001)).state is EntryState.INTENT
    assert known(journal).final_outcome() == Expired()


def test_only_what_must_outlive_a_power_cut_is_flushed(memory: JournalMemory) -> None:
    journal = Journal(memory)
    journal.intend(COMMAND, "f")
    journal.bar(OTHER)
    assert memory.flushes == [True, True]
    memory.flushes.clear()
    journal.intend(uuid4(), "")
    journal.refuse(uuid4(), "f", Expired())
    journal.progress(COMMAND, Unknown(injected_at_least=2))
    journal.finish(COMMAND, DONE)
    journal.mark()
    journal.settle()
    assert memory.flushes == [False] * 5


def test_end_that_a_power_cut_took_leaves_the_outcome_unknown(memory: JournalMemory) -> None:
    journal = Journal(memory)
    journal.intend(COMMAND, "f")
    journal.finish(COMMAND, DONE)
    memory.lose_power()
    again = Journal(memory)
    assert known(again).final_outcome() == Unknown()
    assert not again.intend(COMMAND, "f")


def test_what_may_still_be_asked_about_is_kept_and_what_is_older_forgotten(
    memory: JournalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "PRUNE_EVERY", 0.0)
    journal = Journal(memory)
    for command_id in (COMMAND, OTHER):
        journal.intend(command_id, "f")
        journal.finish(command_id, DONE)
    memory.now = 8 * DAY
    journal.settle()
    assert known(journal).final_outcome() == DONE
    memory.now = 8 * DAY + 1
    journal.settle()
    assert journal.find(COMMAND) is None
    # The last stays, whatever its age: with it the number would go back.
    assert journal.position.sequence == 4
    assert Journal(memory).position == journal.position


def test_storage_is_never_touched_by_two_at_once() -> None:
    """What is looked at must still be so when it is written: a late progress ends no end."""
    touched = []

    class Watched(JournalMemory):
        def find(self, command_id: UUID) -> Entry | None:
            touched.append(watched._lock.locked())
            return super().find(command_id)

        def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
            touched.append(watched._lock.locked())
            super().write(entries, flush=flush)

    watched = Journal(Watched())
    watched.intend(COMMAND, "f")
    watched.progress(COMMAND, Unknown(injected_at_least=1))
    watched.finish(COMMAND, DONE)
    watched.bar(OTHER)
    watched.refuse(uuid4(), "f", Expired())
    watched.intend(uuid4(), "")
    watched.settle()
    assert watched.has_mark(watched.mark().id)
    assert len(touched) > 10
    assert all(touched)


def test_end_that_cannot_be_written_is_known_and_written_when_there_is_room(
    memory: JournalMemory,
) -> None:
    journal = Journal(memory)
    journal.intend(COMMAND, "f")
    memory.is_full = True
    with pytest.raises(DiskFullError):
        journal.finish(COMMAND, DONE)
    assert journal.trouble is not None
    journal.progress(COMMAND, Unknown(injected_at_least=3))
    assert known(journal).final_outcome() == DONE
    memory.is_full = False
    journal.settle()
    assert journal.trouble is None
    assert known(Journal(memory)).final_outcome() == DONE


def test_forgetting_is_for_now_and_then(memory: JournalMemory) -> None:
    journal = Journal(memory)
    journal.settle()
    journal.intend(COMMAND, "f")
    journal.mark()
    memory.now = 9 * DAY
    journal.settle()
    assert journal.find(COMMAND) is not None
