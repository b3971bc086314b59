"""The executor with a real journal and a desktop that does what each test tells it to."""

import queue
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest

from machine_client.journal.file import JournalFile
from machine_client.journal.journal import EntryState, Journal, Mark
from machine_client.system.clock import boottime_seconds
from machine_client.work.executor import Executor
from machine_client.work.injector import InjectionFailed
from machine_client.work.orders import (
    BeginCommand,
    CommandEnded,
    CommandLookedUp,
    CommandsInterrupted,
    ExecutorResult,
    ExpireCommand,
    InterruptCommands,
    JournalFailed,
    JournalMarked,
    LookUpCommand,
    MarkJournal,
    ReleaseHeld,
)
from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Refused,
    Unknown,
)
from tests.links import about
from tests.machine_client.fakes import HERE, FakeInjector, closed_eyes, move, raising
from tests.machine_client.journals import PROJECT, journal_in
from tests.waiting import eventually

T = TypeVar("T")
WAIT_SECONDS = 30.0
COMMAND = UUID(int=0xA)


class Bench:
    """An executor and everything that it reports."""

    def __init__(self, journal_file: Path) -> None:
        self.storage = JournalFile(journal_file)
        self.journal = Journal(self.storage)
        self.desktop = FakeInjector()
        self.reports: queue.SimpleQueue[ExecutorResult] = queue.SimpleQueue()
        self.executor = Executor(self.journal, self.desktop, closed_eyes(), self.reports.put)

    def begin(
        self,
        command_id: UUID = COMMAND,
        *,
        x: Any = 1,
        fingerprint: str = "f",
        within: float = 60.0,
    ) -> None:
        self.executor.submit(
            BeginCommand(move(command_id, x, fingerprint), boottime_seconds() + within)
        )

    def next(self) -> CommandEnded | CommandLookedUp:
        report = self.reports.get(timeout=WAIT_SECONDS)
        assert isinstance(report, CommandEnded | CommandLookedUp)
        return report

    def ended(self) -> CommandEnded:
        """The end of a command, whatever is told of the journal before."""
        while isinstance(report := self.reports.get(timeout=WAIT_SECONDS), JournalFailed):
            pass
        assert isinstance(report, CommandEnded)
        return report

    def next_of(self, kind: type[T]) -> T:
        report = self.reports.get(timeout=WAIT_SECONDS)
        assert isinstance(report, kind)
        return report

    def marked(self) -> int:
        """The journal's number after a mark, which is made after all that was asked for before."""
        self.executor.submit(MarkJournal())
        report = self.reports.get(timeout=WAIT_SECONDS)
        assert isinstance(report, JournalMarked)
        return report.journal_sequence

    def outcome(self, command_id: UUID = COMMAND) -> Outcome:
        """The outcome of the one command that was begun, and proof that it is the only one."""
        ended = self.next()
        assert isinstance(ended, CommandEnded)
        assert ended.command_id == command_id
        self.executor.submit(LookUpCommand(about(mark := uuid4())))
        looked_up = self.next()
        assert isinstance(looked_up, CommandLookedUp)
        assert looked_up.command_id == mark
        return ended.outcome


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "journal")
    yield bench
    bench.executor.stop()


def waiting_for(event: threading.Event, begun: threading.Event | None = None) -> Callable[[], None]:
    """Wait for an event; ``begun`` is set first."""

    def wait() -> None:
        if begun is not None:
            begun.set()
        assert event.wait(WAIT_SECONDS)

    return wait


def test_command_is_injected_once_and_completed(bench: Bench) -> None:
    bench.begin()
    outcome = bench.outcome()
    assert isinstance(outcome, Completed)
    assert outcome.pointer == HERE
    assert bench.desktop.calls == ["inject 1"]


def test_report_carries_the_journals_sequence(bench: Bench) -> None:
    bench.begin()
    ended = bench.next()
    assert isinstance(ended, CommandEnded)
    assert ended.journal_sequence == bench.journal.position.sequence == 2


def test_commands_run_in_the_order_in_which_they_were_begun(bench: Bench) -> None:
    ids = [uuid4() for _ in range(20)]
    for number, command_id in enumerate(ids):
        bench.begin(command_id, x=number)
    assert [bench.next().command_id for _ in ids] == ids
    assert bench.desktop.calls == [f"inject {number}" for number in range(20)]


@pytest.mark.parametrize("where", ["on_prepare", "on_inject"])
@pytest.mark.parametrize("error", [RuntimeError("a mistake"), OSError(5, "gone"), KeyError("x")])
def test_whatever_is_raised_there_is_exactly_one_end(
    bench: Bench, where: str, error: Exception
) -> None:
    setattr(bench.desktop, where, raising(error))
    bench.begin()
    outcome = bench.outcome()
    assert isinstance(outcome, Failed)
    assert outcome.code == "internal_error"
    setattr(bench.desktop, where, lambda: None)
    bench.begin(other := uuid4())
    assert isinstance(bench.outcome(other), Completed)


def test_broken_journal_injects_nothing_and_still_reports_an_end(bench: Bench) -> None:
    bench.storage._database.execute("DROP TABLE entries")
    bench.begin()
    ended = bench.next()
    assert isinstance(ended, CommandEnded)
    assert isinstance(ended.outcome, Failed)
    assert bench.desktop.calls == []


def test_full_disk_injects_nothing_and_is_told_until_there_is_room_again(bench: Bench) -> None:
    """SQLite's own bound stands for the disk's."""
    bench.storage._database.execute("PRAGMA max_page_count = 1")
    outcome: Outcome = Expired()
    while not isinstance(outcome, Failed):
        bench.desktop.calls.clear()
        bench.begin(uuid4(), fingerprint="f" * 64)
        outcome = bench.ended().outcome
    assert (outcome.code, outcome.injected_at_least) == ("journal_failed", 0)
    assert outcome.message == "the machine's journal cannot be written: database or disk is full"
    assert bench.next_of(JournalFailed) == JournalFailed(outcome.message)
    assert bench.desktop.calls == []
    bench.storage._database.execute("PRAGMA max_page_count = 100000")
    bench.begin()
    assert isinstance(bench.ended().outcome, Completed)
    assert bench.desktop.calls == ["inject 1"]


def test_look_up_and_mark_that_fail_are_told(bench: Bench) -> None:
    bench.storage._database.execute("DROP TABLE entries")
    bench.executor.submit(LookUpCommand(about(COMMAND)))
    assert bench.next_of(JournalFailed).command_id == COMMAND
    bench.executor.submit(MarkJournal())
    assert bench.next_of(JournalFailed).command_id is None


def test_journal_that_fails_while_nothing_runs_does_not_end_the_executor(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(bench.journal, "settle", fail)
    bench.begin(fingerprint="")
    assert isinstance(bench.next(), CommandEnded)
    assert failed.wait(WAIT_SECONDS)
    bench.begin(other := uuid4(), fingerprint="")
    assert bench.next().command_id == other
    monkeypatch.undo()


def test_command_that_waits_too_long_for_its_turn_expires(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin(first := uuid4())
    deadline = boottime_seconds() + 0.05
    bench.begin(within=0.05)
    while boottime_seconds() <= deadline:
        pass
    go_on.set()
    assert bench.next().command_id == first
    assert bench.outcome() == Expired()


def test_unknown_id_that_is_looked_up_is_barred_for_ever(bench: Bench) -> None:
    bench.executor.submit(LookUpCommand(about(COMMAND)))
    assert bench.next() == CommandLookedUp(COMMAND, NotCarriedOut(), 1)
    bench.begin()
    assert isinstance(bench.outcome(), NotCarriedOut | Refused)
    assert bench.desktop.calls == []


def test_finished_id_that_is_looked_up_has_its_outcome(bench: Bench) -> None:
    bench.begin()
    done = bench.outcome()
    bench.executor.submit(LookUpCommand(about(COMMAND)))
    looked_up = bench.next()
    assert isinstance(looked_up, CommandLookedUp)
    assert looked_up.outcome == done


def test_looking_up_does_not_wait_for_a_running_command(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin()
    bench.executor.submit(LookUpCommand(about(other := uuid4())))
    looked_up = bench.next()
    assert (looked_up.command_id, looked_up.outcome) == (other, NotCarriedOut())
    go_on.set()
    assert isinstance(bench.next(), CommandEnded)


def test_held_is_released_after_the_running_command(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin()
    bench.executor.submit(ReleaseHeld())
    go_on.set()
    bench.outcome()
    eventually(lambda: bench.desktop.calls == ["inject 1", "release"], "it is released")


def test_another_desktop_takes_over_from_the_next_command_on(bench: Bench) -> None:
    other = FakeInjector()
    bench.executor.use(other)
    bench.begin()
    bench.outcome()
    assert (bench.desktop.calls, other.calls) == (["close"], ["inject 1"])


def test_desktop_that_cannot_even_be_closed_is_replaced_all_the_same(bench: Bench) -> None:
    def fail() -> None:
        raise ConnectionError("the X server has ended")

    bench.desktop.close = fail  # type: ignore[method-assign]
    other = FakeInjector()
    bench.executor.use(other)
    bench.begin()
    bench.outcome()
    assert (bench.desktop.calls, other.calls) == ([], ["inject 1"])


def test_killed_in_a_long_drag_its_outcome_says_how_much_happened_at_least(tmp_path: Path) -> None:
    told = 0
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.machine_client.endless_drag"),
            *(str(tmp_path / "journal"), str(COMMAND)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    ) as dragging:
        try:
            assert dragging.stdout is not None
            while told < 20:
                told = int(dragging.stdout.readline())
        finally:
            dragging.kill()
    bench = Bench(tmp_path / "journal")
    bench.executor.submit(LookUpCommand(about(COMMAND)))
    looked_up = bench.next()
    assert isinstance(looked_up.outcome, Unknown)
    assert looked_up.outcome.injected_at_least >= told
    bench.begin()
    assert bench.outcome() == looked_up.outcome
    assert bench.desktop.calls == []
    bench.executor.stop()


def test_progress_is_noted_of_what_a_key_can_repeat_while_it_runs(bench: Bench) -> None:
    bench.desktop.injected = 7
    for fingerprint, noted in (("", 0), ("f", 1)):
        begun, go_on = threading.Event(), threading.Event()
        bench.desktop.on_inject = waiting_for(go_on, begun)
        bench.begin(uuid4(), fingerprint=fingerprint)
        assert begun.wait(WAIT_SECONDS)
        before = bench.journal.position.sequence
        for _ in range(3):  # A desktop that is stuck makes no further progress to be noted.
            bench.executor.note_progress()
        assert bench.marked() == before + noted + 1
        go_on.set()
        assert isinstance(bench.next(), CommandEnded)
    bench.journal.settle()
    before = bench.journal.position.sequence
    bench.executor.note_progress()
    assert bench.marked() == before + 1


def test_mark_is_made_and_reported_while_a_command_runs(bench: Bench) -> None:
    begun, go_on = threading.Event(), threading.Event()
    bench.desktop.on_inject = waiting_for(go_on, begun)
    bench.begin()
    # Its intent counts as well.
    assert begun.wait(WAIT_SECONDS)
    assert bench.marked() == bench.journal.position.sequence
    go_on.set()
    assert isinstance(bench.next(), CommandEnded)


def test_late_command_is_answered_while_another_runs(bench: Bench) -> None:
    bench.begin()
    done = bench.outcome()
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin(running := uuid4())
    for command_id, outcome in ((COMMAND, done), (uuid4(), Expired())):
        bench.executor.submit(ExpireCommand(move(command_id)))
        ended = bench.next()
        assert isinstance(ended, CommandEnded)
        assert (ended.command_id, ended.outcome) == (command_id, outcome)
    go_on.set()
    assert bench.next().command_id == running


def test_interrupt_ends_what_runs_releases_what_is_held_and_is_reported(bench: Bench) -> None:
    running, request = threading.Event(), uuid4()

    def inject() -> None:
        running.set()
        assert bench.desktop.interrupted.wait(WAIT_SECONDS)
        raise InjectionFailed("interrupted", "control changed", 2)

    bench.desktop.on_inject = inject
    bench.begin()
    assert running.wait(WAIT_SECONDS)
    bench.executor.submit(InterruptCommands(request))
    ended = bench.next()
    assert isinstance(ended, CommandEnded)
    assert isinstance(ended.outcome, Failed)
    assert bench.next_of(CommandsInterrupted) == CommandsInterrupted(request)
    assert bench.desktop.calls == ["inject 1", "release"]


def test_interrupt_that_comes_during_a_release_ends_what_was_begun_before_it(bench: Bench) -> None:
    releasing, go_on, request = threading.Event(), threading.Event(), uuid4()

    def inject() -> None:
        assert bench.desktop.interrupted.wait(WAIT_SECONDS)
        raise InjectionFailed("interrupted", "control changed", 0)

    bench.desktop.on_release = waiting_for(go_on, releasing)
    bench.desktop.on_inject = inject
    bench.executor.submit(ReleaseHeld())
    assert releasing.wait(WAIT_SECONDS)
    bench.begin()
    bench.executor.submit(InterruptCommands(request))
    go_on.set()
    assert bench.ended().outcome == Failed(
        code="interrupted", message="control changed", injected_at_least=0
    )
    assert bench.next_of(CommandsInterrupted) == CommandsInterrupted(request)
    assert not bench.desktop.interrupted.is_set()


def test_stop_answers_what_was_asked_before_the_journal_is_closed(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "journal")
    go_on = threading.Event()
    mark = bench.journal.mark

    def mark_later() -> Mark:
        assert go_on.wait(WAIT_SECONDS)
        return mark()

    bench.journal.mark = mark_later  # type: ignore[method-assign]
    bench.executor.submit(MarkJournal())
    bench.executor.submit(LookUpCommand(about(COMMAND)))
    stopping = threading.Thread(target=bench.executor.stop)
    stopping.start()
    while "close" not in bench.desktop.calls:
        pass
    go_on.set()
    stopping.join()
    bench.next_of(JournalMarked)
    assert bench.next() == CommandLookedUp(COMMAND, NotCarriedOut(), 2)
    again = journal_in(tmp_path / "journal")
    assert not again.intend(COMMAND, "f")
    again.close()


def test_stop_interrupts_what_runs_and_closes_everything(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "journal")
    running = threading.Event()

    def inject() -> None:
        running.set()
        assert bench.desktop.interrupted.wait(WAIT_SECONDS)
        raise InjectionFailed("interrupted", "stopping", 2)

    bench.desktop.on_inject = inject
    bench.begin()
    assert running.wait(WAIT_SECONDS)
    bench.executor.stop()
    ended = bench.next()
    assert isinstance(ended, CommandEnded)
    assert ended.outcome == Failed(code="interrupted", message="stopping", injected_at_least=2)
    assert bench.desktop.calls == ["inject 1", "close"]
    assert not bench.executor._thread.is_alive()
    again = journal_in(tmp_path / "journal")
    entry = again.find(COMMAND)
    assert entry is not None
    assert entry.state is EntryState.DONE
    again.close()
