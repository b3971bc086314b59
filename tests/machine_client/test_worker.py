"""One command at a time, without threads: journal, inject, journal."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from machine_client.journal import EntryState, Journal
from machine_client.session import CommandEnded, CommandLookedUp
from machine_client.worker import Worker
from schemas.inputs import AnyInput, Operation
from schemas.outcomes import Completed, Expired, Failed, NotCarriedOut, Point, Unknown
from schemas.wire import Display, Input
from tests.machine_client.journals import JournalMemory, journal_in

COMMAND = UUID(int=0xA)


class CountingDesktop:
    """Counts what it injects; a test may look in between."""

    def __init__(self) -> None:
        self.injected = 0
        self.on_inject: Callable[[], None] = lambda: None

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        def inject() -> Point:
            self.injected += 2
            self.on_inject()
            return Point(x=1, y=2)

        return inject

    def interrupt(self) -> None: ...

    def release_all(self) -> None: ...

    def displays(self) -> list[Display]:
        return []

    def close(self) -> None: ...


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = journal_in(tmp_path / "journal")
    yield journal
    journal.close()


def command(fingerprint: str = "f") -> Input:
    return Input(
        command_id=COMMAND,
        operation=Operation.MOUSE_MOVE,
        body={"x": 1, "y": 2},
        fingerprint=fingerprint,
        expires_at=0,
        server_time=0,
    )


def test_command_is_begun_up_to_its_time_and_not_after(journal: Journal) -> None:
    desktop = CountingDesktop()
    now = 10.0
    worker = Worker(journal, desktop, lambda: now)
    assert worker.carry_out(command(), 9.9) == CommandEnded(COMMAND, Expired(), 0)
    assert journal.find(COMMAND) is None
    assert isinstance(worker.carry_out(command(), 10.0).outcome, Completed)
    assert desktop.injected == 2


def test_known_command_that_comes_late_has_its_first_outcome(journal: Journal) -> None:
    worker = Worker(journal, CountingDesktop(), lambda: 10.0)
    first = worker.carry_out(command(), 11.0)
    assert worker.carry_out(command(), 9.0).outcome == first.outcome
    assert worker.expire(command()).outcome == first.outcome


def test_late_command_that_is_not_known_expires(journal: Journal) -> None:
    worker = Worker(journal, CountingDesktop(), lambda: 10.0)
    assert worker.expire(command()) == CommandEnded(COMMAND, Expired(), 0)
    assert journal.find(COMMAND) is None


def test_command_that_is_looked_up_first_is_never_carried_out(journal: Journal) -> None:
    desktop = CountingDesktop()
    worker = Worker(journal, desktop, lambda: 10.0)
    assert worker.look_up(COMMAND) == CommandLookedUp(COMMAND, NotCarriedOut(), 1)
    assert worker.carry_out(command(), 11.0).outcome == NotCarriedOut()
    assert desktop.injected == 0


@pytest.mark.parametrize("fingerprint", ["f", ""])
def test_progress_of_what_a_key_can_repeat_is_in_the_journal_while_it_runs(
    journal: Journal, fingerprint: str
) -> None:
    desktop = CountingDesktop()
    worker = Worker(journal, desktop, lambda: 10.0)
    seen: list[object] = []

    def look() -> None:
        worker.note_progress()
        entry = journal.find(COMMAND)
        assert entry is not None
        assert entry.state is EntryState.INTENT
        seen.append((worker.is_injecting, entry.final_outcome()))

    desktop.on_inject = look
    worker.carry_out(command(fingerprint), 11.0)
    kept = Unknown(injected_at_least=2) if fingerprint else Unknown()
    assert seen == [(bool(fingerprint), kept)]
    assert not worker.is_injecting
    worker.note_progress()
    entry = journal.find(COMMAND)
    assert entry is not None
    assert isinstance(entry.final_outcome(), Completed)


def test_end_that_the_journal_cannot_take_is_told_all_the_same() -> None:
    memory = JournalMemory()
    journal, desktop = Journal(memory), CountingDesktop()
    worker = Worker(journal, desktop, lambda: 10.0)

    def fill_the_disk() -> None:
        memory.is_full = True

    desktop.on_inject = fill_the_disk
    assert isinstance(worker.carry_out(command(), 11.0).outcome, Completed)
    # Whoever asks the journal later hears what it honestly knows, and nothing is injected again.
    assert worker.look_up(COMMAND).outcome == Unknown()
    assert worker.carry_out(command(), 11.0).outcome == Unknown()
    assert desktop.injected == 2


def test_intent_that_the_journal_cannot_take_is_never_injected() -> None:
    memory = JournalMemory()
    desktop = CountingDesktop()
    worker = Worker(Journal(memory), desktop, lambda: 10.0)
    memory.is_full = True
    failed = worker.carry_out(command(), 11.0).outcome
    assert isinstance(failed, Failed)
    assert (failed.code, failed.injected_at_least, desktop.injected) == ("internal_error", 0, 0)
