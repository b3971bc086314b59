"""One command at a time, without threads: journal, inject, journal."""

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from machine_client.journal.journal import EntryState, Journal, NumberedEntry
from machine_client.work.injector import InjectionFailed, InjectionUnavailable, Refusal
from machine_client.work.orders import CommandEnded, CommandLookedUp
from machine_client.work.worker import Worker
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import (
    Completed,
    Effect,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Refused,
    Unknown,
)
from tests.links import about
from tests.machine_client.fakes import HERE, FakeInjector, closed_eyes, move, raising
from tests.machine_client.journals import JournalMemory
from tests.store import there

COMMAND, OTHER = UUID(int=0xA), UUID(int=0xC)

NOW = 10.0


class Bench:
    """A worker whose clock stands at `NOW`."""

    def __init__(self) -> None:
        self.memory = JournalMemory()
        self.journal = Journal(self.memory)
        self.desktop = FakeInjector()
        self.worker = Worker(self.journal, self.desktop, closed_eyes(), lambda: NOW)

    def carry_out(
        self, *, x: Any = 1, fingerprint: str = "f", begin_by: float = NOW + 1
    ) -> Outcome:
        """The outcome of `COMMAND`."""
        ended = self.worker.carry_out(move(COMMAND, x, fingerprint), begin_by)
        assert ended == CommandEnded(COMMAND, ended.outcome, self.memory.sequence)
        return ended.outcome

    def state(self) -> EntryState | None:
        entry = self.journal.find(COMMAND)
        return None if entry is None else entry.state


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_intent_is_written_before_the_first_event_and_the_end_after_the_last(bench: Bench) -> None:
    seen: list[EntryState | None] = []
    bench.desktop.on_prepare = bench.desktop.on_inject = lambda: seen.append(bench.state())
    outcome = bench.carry_out()
    assert isinstance(outcome, Completed)
    assert outcome.pointer == HERE
    assert [*seen, bench.state()] == [None, EntryState.INTENT, EntryState.DONE]
    assert bench.memory.sequence == 2


@pytest.mark.parametrize("effect", ["delivered", "accepted", "happened"])
def test_no_more_than_its_desktop_knows_is_said_of_an_input(bench: Bench, effect: Effect) -> None:
    bench.desktop.effect = effect
    outcome = bench.carry_out()
    assert isinstance(outcome, Completed)
    assert outcome.effect == effect
    # And by the journal, to whoever asks again.
    assert bench.carry_out() == outcome


def test_command_is_begun_up_to_its_time(bench: Bench) -> None:
    assert isinstance(bench.carry_out(begin_by=NOW), Completed)
    assert bench.desktop.calls == ["inject 1"]


def test_command_that_is_late_when_its_intent_is_on_the_disk_is_not_begun(bench: Bench) -> None:
    assert bench.carry_out(begin_by=NOW - 0.001) == Expired()
    assert bench.carry_out(begin_by=NOW) == Expired()
    assert bench.worker.look_up(about(COMMAND)).outcome == Expired()
    assert bench.desktop.calls == []


def test_action_that_is_late_when_its_mark_is_on_the_disk_is_not_begun(bench: Bench) -> None:
    now, begin_by = NOW, NOW + 1

    class DiskThatStoodStill(JournalMemory):
        def write(self, entries: Sequence[NumberedEntry], *, flush: bool) -> None:
            nonlocal now
            super().write(entries, flush=flush)
            if flush and self.sequence > 1:
                now = begin_by + 0.1

    worker = Worker(Journal(DiskThatStoodStill()), bench.desktop, closed_eyes(), lambda: now)
    actions = [{"operation": "mouse.move", "x": x, "y": 0} for x in (1, 2, 3)]
    command = move(COMMAND).model_copy(
        update={"operation": Operation.ACTIONS, "body": {"actions": actions}}
    )
    outcome = worker.carry_out(command, begin_by).outcome
    assert isinstance(outcome, Failed)
    assert outcome.code == "expired"
    assert [each.status for each in outcome.actions or ()] == ["completed", *["not_begun"] * 2]
    assert bench.desktop.calls == ["inject 1"]


def test_known_command_that_comes_late_has_its_first_outcome(bench: Bench) -> None:
    first = bench.carry_out()
    assert bench.carry_out(begin_by=NOW - 1) == first
    assert bench.worker.expire(move(COMMAND)).outcome == first
    assert bench.desktop.calls == ["inject 1"]


def test_late_command_that_is_not_known_expires_and_leaves_no_trace(bench: Bench) -> None:
    assert bench.worker.expire(move(COMMAND)) == CommandEnded(COMMAND, Expired(), 0)
    assert bench.state() is None


def test_command_that_began_and_broke_off_says_how_much_happened(bench: Bench) -> None:
    bench.desktop.on_inject = raising(InjectionFailed("display_lost", "the screen went", 7))
    failed = Failed(code="display_lost", message="the screen went", injected_at_least=7)
    assert bench.carry_out() == failed
    assert bench.carry_out() == failed
    assert bench.desktop.calls == ["inject 1"]


def test_refusal_is_final_and_nothing_is_injected(bench: Bench) -> None:
    refused = Refused(code="coordinates_outside_display", message="no", loc=("body", "x"))
    bench.desktop.on_prepare = raising(Refusal(refused))
    assert bench.carry_out() == refused
    bench.desktop.on_prepare = lambda: None
    assert bench.carry_out() == refused
    assert bench.desktop.calls == []


def test_body_that_is_none_is_refused_by_the_field(bench: Bench) -> None:
    outcome = bench.carry_out(x="far left")
    assert isinstance(outcome, Refused)
    assert outcome.loc == ("body", "x")
    assert bench.desktop.calls == []


def test_desktop_that_is_gone_fails_with_nothing_injected(bench: Bench) -> None:
    bench.desktop.on_prepare = raising(InjectionUnavailable("no display"))
    assert bench.carry_out() == Failed(
        code="desktop_unavailable", message="no display", injected_at_least=0
    )


@pytest.mark.parametrize("fingerprint", ["f", ""])
def test_known_id_is_answered_from_the_journal_and_never_injected_again(
    bench: Bench, fingerprint: str
) -> None:
    first = bench.carry_out(fingerprint=fingerprint)
    assert bench.carry_out(fingerprint=fingerprint) == first
    assert bench.desktop.calls == ["inject 1"]


def test_known_id_is_answered_even_where_it_would_now_be_refused(bench: Bench) -> None:
    first = bench.carry_out()
    bench.desktop.on_prepare = raising(InjectionUnavailable("no display"))
    assert bench.carry_out() == first


@pytest.mark.parametrize("begin_by", [NOW + 1, NOW - 1], ids=["in time", "late"])
def test_id_of_another_fingerprint_is_refused_at_the_header(bench: Bench, begin_by: float) -> None:
    bench.carry_out()
    outcome = bench.carry_out(fingerprint="another", begin_by=begin_by)
    assert isinstance(outcome, Refused)
    assert outcome.loc == ("header", "Idempotency-Key")
    assert outcome.code == "idempotency_key_reused"
    assert bench.desktop.calls == ["inject 1"]


def test_what_is_not_known_is_barred(bench: Bench) -> None:
    assert bench.worker.look_up(about(COMMAND)).outcome == NotCarriedOut()
    assert bench.carry_out() == NotCarriedOut()
    assert bench.desktop.calls == []


def test_outcome_of_another_request_is_no_answer_to_who_asks(bench: Bench) -> None:
    """A key that the ledger had forgotten was used for something else, which never began."""
    bench.journal.intend(COMMAND, "another")
    refused = bench.worker.look_up(about(COMMAND)).outcome
    assert isinstance(refused, Refused)
    assert refused.code == "idempotency_key_reused"


@pytest.mark.parametrize("begin_by", [NOW + 1, NOW - 1], ids=["in time", "late"])
def test_id_that_was_begun_and_not_finished_is_unknown_and_not_injected(
    bench: Bench, begin_by: float
) -> None:
    bench.journal.intend(COMMAND, "f")
    assert bench.carry_out(begin_by=begin_by) == Unknown()
    assert bench.desktop.calls == []


def test_command_that_is_looked_up_first_is_never_carried_out(bench: Bench) -> None:
    assert bench.worker.look_up(about(COMMAND)) == CommandLookedUp(COMMAND, NotCarriedOut(), 1)
    assert bench.carry_out() == NotCarriedOut()
    assert bench.worker.look_up(about(COMMAND)) == CommandLookedUp(COMMAND, NotCarriedOut(), 1)
    assert bench.desktop.calls == []


def test_journal_without_the_mark_that_a_command_was_sent_after_knows_nothing_of_it(
    bench: Bench,
) -> None:
    """It is a copy of another branch: what it says may be of an earlier life of the key."""
    done = bench.carry_out()
    marked = bench.journal.mark()
    assert bench.worker.look_up(about(COMMAND, mark=marked.id)).outcome == done
    assert bench.worker.look_up(about(COMMAND, mark=uuid4())).outcome == Unknown()
    assert bench.worker.look_up(about(OTHER, mark=uuid4())).outcome == Unknown()
    assert bench.journal.find(OTHER) is None


def test_command_that_ended_is_looked_up_with_its_outcome(bench: Bench) -> None:
    done = bench.carry_out()
    assert bench.worker.look_up(about(COMMAND)) == CommandLookedUp(COMMAND, done, 2)


@pytest.mark.parametrize("fingerprint", ["f", ""])
def test_progress_of_what_a_key_can_repeat_is_in_the_journal_while_it_runs(
    bench: Bench, fingerprint: str
) -> None:
    seen: list[object] = []

    def look() -> None:
        bench.worker.note_progress()  # of nothing yet, which is not worth a write
        assert bench.memory.sequence == (1 if fingerprint else 0)
        bench.desktop.injected = 2
        bench.worker.note_progress()
        entry = bench.journal.find(COMMAND)
        assert entry is not None
        assert entry.state is EntryState.INTENT
        seen.append((bench.worker.is_injecting, entry.final_outcome()))

    bench.desktop.on_inject = look
    bench.carry_out(fingerprint=fingerprint)
    kept = Unknown(injected_at_least=2) if fingerprint else Unknown()
    assert seen == [(bool(fingerprint), kept)]
    assert not bench.worker.is_injecting
    bench.worker.note_progress()
    assert bench.state() is EntryState.DONE


def test_nothing_is_injecting_after_a_mistake(bench: Bench) -> None:
    bench.desktop.on_inject = raising(KeyError("a mistake"))
    failed = bench.carry_out()
    assert isinstance(failed, Failed)
    assert (failed.code, bench.worker.is_injecting) == ("internal_error", False)
    # Nobody knows how much happened: it is not done again, and whoever asks hears so.
    assert bench.carry_out() == Unknown()


def test_end_that_the_journal_cannot_take_is_told_all_the_same(bench: Bench) -> None:
    def fill_the_disk() -> None:
        bench.memory.is_full = True

    bench.desktop.on_inject = fill_the_disk
    done = bench.carry_out()
    assert isinstance(done, Completed)
    # This process remembers the end; a later one hears what the disk honestly knows.
    assert bench.worker.look_up(about(COMMAND)).outcome == done
    assert bench.carry_out() == done
    assert bench.desktop.calls == ["inject 1"]
    assert there(Journal(bench.memory).find(COMMAND)).final_outcome() == Unknown()
    bench.memory.is_full = False
    bench.journal.settle()
    assert there(Journal(bench.memory).find(COMMAND)).final_outcome() == done


def test_intent_that_the_journal_cannot_take_is_never_injected(bench: Bench) -> None:
    bench.memory.is_full = True
    failed = bench.carry_out()
    assert isinstance(failed, Failed)
    assert (failed.code, failed.injected_at_least) == ("journal_failed", 0)
    assert bench.desktop.calls == []


def test_end_is_logged_with_its_ids_and_without_what_was_asked(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        bench.carry_out()
        assert caplog.text == ""
    command = move(COMMAND, 4711).model_copy(update={"request_id": "r-7"})
    with caplog.at_level(logging.DEBUG):
        bench.worker.expire(command)
        bench.worker.carry_out(command, NOW + 1)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [f"command={COMMAND} request=r-7 operation=mouse.move outcome=completed"] * 2
    assert "4711" not in caplog.text


def test_what_did_not_go_well_is_logged_as_a_warning(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        bench.carry_out(begin_by=NOW - 1)
    assert "outcome=expired" in caplog.text
