"""The executor with a real journal and a desktop that does what each test tells it to."""

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from machine_client.clock import awake_seconds
from machine_client.executor import Executor
from machine_client.injector import InjectionFailed, InjectionUnavailable, Refusal
from machine_client.journal import EntryState, Journal
from machine_client.journal_file import JournalFile
from machine_client.session import CommandEnded, CommandLookedUp, JournalMarked
from schemas.inputs import AnyInput, MoveMouse, Operation
from schemas.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Unknown,
)
from schemas.wire import Display, Input
from tests.machine_client.journals import journal_in

WAIT_SECONDS = 10.0
COMMAND = UUID(int=0xA)
HERE = Point(x=1, y=2)


class FakeDesktop:
    """Notes what it is told; a test may set what else happens at each step."""

    injected = 0

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.interrupted = threading.Event()
        self.on_prepare: Callable[[], None] = lambda: None
        self.on_inject: Callable[[], None] = lambda: None

    def prepare(self, body: AnyInput) -> Callable[[], Point]:
        assert isinstance(body, MoveMouse)
        self.on_prepare()

        def inject() -> Point:
            self.calls.append(f"inject {body.x}")
            self.on_inject()
            return HERE

        return inject

    def interrupt(self) -> None:
        self.interrupted.set()

    def release_all(self) -> None:
        self.calls.append("release")

    def displays(self) -> list[Display]:
        return []

    def close(self) -> None:
        self.calls.append("close")


class Bench:
    """An executor and everything that it reports."""

    def __init__(self, journal_file: Path) -> None:
        self.storage = JournalFile(journal_file)
        self.journal = Journal(self.storage)
        self.desktop = FakeDesktop()
        self.reports: queue.SimpleQueue[CommandEnded | CommandLookedUp | JournalMarked] = (
            queue.SimpleQueue()
        )
        self.executor = Executor(self.journal, self.desktop, self.reports.put)

    def begin(
        self,
        command_id: UUID = COMMAND,
        *,
        x: Any = 1,
        fingerprint: str = "f",
        within: float = 60.0,
    ) -> None:
        command = Input(
            command_id=command_id,
            operation=Operation.MOUSE_MOVE,
            body={"x": x, "y": 2},
            fingerprint=fingerprint,
            expires_at=0,
            server_time=0,
        )
        self.executor.begin(command, awake_seconds() + within)

    def next(self) -> CommandEnded | CommandLookedUp:
        report = self.reports.get(timeout=WAIT_SECONDS)
        assert not isinstance(report, JournalMarked)
        return report

    def outcome(self, command_id: UUID = COMMAND) -> Outcome:
        """The outcome of the one command that was begun, and proof that it is the only one."""
        ended = self.next()
        assert isinstance(ended, CommandEnded)
        assert ended.command_id == command_id
        self.executor.look_up(mark := uuid4())
        looked_up = self.next()
        assert isinstance(looked_up, CommandLookedUp)
        assert looked_up.command_id == mark
        return ended.outcome


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "journal")
    yield bench
    bench.executor.stop()


def raising(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def waiting_for(event: threading.Event) -> Callable[[], None]:
    def wait() -> None:
        assert event.wait(WAIT_SECONDS)

    return wait


def test_command_is_injected_once_and_completed(bench: Bench) -> None:
    bench.begin()
    outcome = bench.outcome()
    assert isinstance(outcome, Completed)
    assert outcome.pointer == HERE
    assert bench.desktop.calls == ["inject 1"]


def test_intent_is_written_before_the_first_event_and_the_end_after_the_last(bench: Bench) -> None:
    seen: list[EntryState | None] = []

    def state() -> None:
        entry = bench.journal.find(COMMAND)
        seen.append(entry.state if entry else None)

    bench.desktop.on_prepare = bench.desktop.on_inject = state
    bench.begin()
    bench.outcome()
    state()
    assert seen == [None, EntryState.INTENT, EntryState.DONE]


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


def test_command_that_began_and_broke_off_says_how_much_happened(bench: Bench) -> None:
    bench.desktop.on_inject = raising(InjectionFailed("display_lost", "the screen went", 7))
    bench.begin()
    failed = Failed(code="display_lost", message="the screen went", injected_at_least=7)
    assert bench.outcome() == failed
    bench.begin()
    assert bench.outcome() == failed
    assert bench.desktop.calls == ["inject 1"]


def test_refusal_is_final_and_nothing_is_injected(bench: Bench) -> None:
    refused = Refused(code="coordinates_outside_display", message="no", loc=("body", "x"))
    bench.desktop.on_prepare = raising(Refusal(refused))
    bench.begin()
    assert bench.outcome() == refused
    bench.desktop.on_prepare = lambda: None
    bench.begin()
    assert bench.outcome() == refused
    assert bench.desktop.calls == []


def test_body_that_is_none_is_refused_by_the_field(bench: Bench) -> None:
    bench.begin(x="far left")
    outcome = bench.outcome()
    assert isinstance(outcome, Refused)
    assert outcome.loc == ("body", "x")
    assert bench.desktop.calls == []


def test_desktop_that_is_gone_fails_with_nothing_injected(bench: Bench) -> None:
    bench.desktop.on_prepare = raising(InjectionUnavailable("no display"))
    bench.begin()
    assert bench.outcome() == Failed(
        code="desktop_unavailable", message="no display", injected_at_least=0
    )


def test_known_id_is_answered_from_the_journal_and_never_injected_again(bench: Bench) -> None:
    bench.begin()
    first = bench.outcome()
    bench.begin()
    assert bench.outcome() == first
    assert bench.desktop.calls == ["inject 1"]


def test_id_of_another_fingerprint_is_refused_at_the_header(bench: Bench) -> None:
    bench.begin()
    bench.outcome()
    bench.begin(fingerprint="another")
    outcome = bench.outcome()
    assert isinstance(outcome, Refused)
    assert outcome.loc == ("header", "Idempotency-Key")
    assert outcome.code == "idempotency_key_reused"
    assert bench.desktop.calls == ["inject 1"]


def test_id_that_was_begun_and_not_finished_is_unknown_and_not_injected(bench: Bench) -> None:
    bench.journal.intend(COMMAND, "f")
    bench.begin()
    assert bench.outcome() == Unknown()
    assert bench.desktop.calls == []


def test_late_command_expires_and_leaves_no_trace(bench: Bench) -> None:
    bench.begin(within=-0.001)
    assert bench.outcome() == Expired()
    assert bench.desktop.calls == []
    assert bench.journal.find(COMMAND) is None


def test_command_that_waits_too_long_for_its_turn_expires(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin(first := uuid4())
    deadline = awake_seconds() + 0.05
    bench.begin(within=0.05)
    while awake_seconds() <= deadline:
        pass
    go_on.set()
    assert bench.next().command_id == first
    assert bench.outcome() == Expired()


def test_unknown_id_that_is_looked_up_is_barred_for_ever(bench: Bench) -> None:
    bench.executor.look_up(COMMAND)
    assert bench.next() == CommandLookedUp(COMMAND, NotCarriedOut(), 1)
    bench.begin()
    assert isinstance(bench.outcome(), NotCarriedOut | Refused)
    assert bench.desktop.calls == []


def test_finished_id_that_is_looked_up_has_its_outcome(bench: Bench) -> None:
    bench.begin()
    done = bench.outcome()
    bench.executor.look_up(COMMAND)
    looked_up = bench.next()
    assert isinstance(looked_up, CommandLookedUp)
    assert looked_up.outcome == done


def test_looking_up_does_not_wait_for_a_running_command(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin()
    bench.executor.look_up(other := uuid4())
    looked_up = bench.next()
    assert (looked_up.command_id, looked_up.outcome) == (other, NotCarriedOut())
    go_on.set()
    assert isinstance(bench.next(), CommandEnded)


def test_held_is_released_after_the_running_command(bench: Bench) -> None:
    go_on = threading.Event()
    bench.desktop.on_inject = waiting_for(go_on)
    bench.begin()
    bench.executor.release_held()
    go_on.set()
    bench.outcome()
    assert bench.desktop.calls == ["inject 1", "release"]


def test_another_desktop_takes_over_from_the_next_command_on(bench: Bench) -> None:
    other = FakeDesktop()
    bench.executor.use(other)
    bench.begin()
    bench.outcome()
    assert (bench.desktop.calls, other.calls) == (["close"], ["inject 1"])


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
