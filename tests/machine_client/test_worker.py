"""One command at a time, without threads: journal, inject, journal."""

import logging
from typing import Any
from uuid import UUID, uuid4

import pytest

from machine_client.injector import InjectionFailed, InjectionUnavailable, Refusal
from machine_client.journal.journal import EntryState, Journal
from machine_client.link.events import CommandEnded, CommandLookedUp
from machine_client.worker import Worker
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
from schemas.link.messages import EarlierCommand
from tests.links import about
from tests.machine_client.fakes import HERE, FakeInjector, move, raising
from tests.machine_client.journals import JournalMemory
from tests.store import there

COMMAND, EARLIER, OTHER = UUID(int=0xA), UUID(int=0xB), UUID(int=0xC)
OF_BEFORE = EarlierCommand(command_id=EARLIER, fingerprint="plain")
"""The names that an older server gave to what is `COMMAND` today."""

NOW = 10.0


class Bench:
    """A worker whose clock stands at `NOW`."""

    def __init__(self) -> None:
        self.memory = JournalMemory()
        self.journal = Journal(self.memory)
        self.desktop = FakeInjector()
        self.worker = Worker(self.journal, self.desktop, lambda: NOW)

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


@pytest.mark.parametrize("way", ["carry out", "late", "expire"])
@pytest.mark.parametrize("is_done", [True, False])
def test_what_was_begun_under_an_earlier_id_is_answered_from_the_journal(
    bench: Bench, way: str, is_done: bool
) -> None:
    bench.journal.intend(EARLIER, "plain")
    if is_done:
        bench.journal.finish(EARLIER, Expired())
    command = move(COMMAND).model_copy(update={"earlier": OF_BEFORE})
    if way == "expire":
        ended = bench.worker.expire(command)
    else:
        ended = bench.worker.carry_out(command, NOW + 1 if way == "carry out" else NOW - 1)
        # Whoever asks about today's id afterwards is told the same.
        assert bench.worker.look_up(about(COMMAND)).outcome == ended.outcome
    assert ended.outcome == (Expired() if is_done else Unknown())
    assert bench.desktop.calls == []


def test_earlier_id_of_another_request_is_refused_and_an_unknown_one_hinders_nothing(
    bench: Bench,
) -> None:
    command = move(COMMAND).model_copy(update={"earlier": OF_BEFORE})
    bench.journal.intend(EARLIER, "another")
    refused = bench.worker.carry_out(command, NOW + 1).outcome
    assert isinstance(refused, Refused)
    assert refused.code == "idempotency_key_reused"
    assert bench.desktop.calls == []
    unknown = EarlierCommand(command_id=UUID(int=0xC), fingerprint="plain")
    other = move(UUID(int=0xD)).model_copy(update={"earlier": unknown})
    assert isinstance(bench.worker.carry_out(other, NOW + 1).outcome, Completed)


def test_fingerprint_of_before_is_recognised_under_the_same_id(bench: Bench) -> None:
    bench.journal.intend(COMMAND, "plain")
    command = move(COMMAND).model_copy(update={"earlier": OF_BEFORE})
    assert bench.worker.carry_out(command, NOW + 1).outcome == Unknown()
    assert bench.desktop.calls == []


@pytest.mark.parametrize("is_done", [True, False])
def test_what_was_begun_under_an_earlier_id_is_known_to_whoever_asks_about_todays(
    bench: Bench, is_done: bool
) -> None:
    """The server, or this client, died before the worker could note it under today's id."""
    bench.journal.intend(EARLIER, "plain")
    if is_done:
        bench.journal.finish(EARLIER, Expired())
    mark = bench.journal.mark().id
    question = about(COMMAND, mark=mark, fingerprint="f", earlier=OF_BEFORE)
    known = Expired() if is_done else Unknown()
    assert bench.worker.look_up(question).outcome == known
    # And whoever asks without the earlier names, or has it carried out, is told the same.
    assert bench.worker.look_up(about(COMMAND)).outcome == known
    assert bench.carry_out() == known
    assert bench.desktop.calls == []


def test_mark_counts_for_what_an_earlier_id_says_too(bench: Bench) -> None:
    bench.journal.refuse(EARLIER, "plain", Expired())
    question = about(COMMAND, mark=uuid4(), fingerprint="f", earlier=OF_BEFORE)
    assert bench.worker.look_up(question).outcome == Unknown()
    assert bench.journal.find(COMMAND) is None


def test_what_neither_id_is_known_of_is_barred(bench: Bench) -> None:
    question = about(COMMAND, fingerprint="f", earlier=OF_BEFORE)
    assert bench.worker.look_up(question).outcome == NotCarriedOut()
    assert bench.carry_out() == NotCarriedOut()
    assert bench.desktop.calls == []


@pytest.mark.parametrize("command_id", [COMMAND, EARLIER])
def test_outcome_of_another_request_is_no_answer_to_who_asks(
    bench: Bench, command_id: UUID
) -> None:
    """A key that the ledger had forgotten was used for something else, which never began."""
    bench.journal.intend(command_id, "another")
    question = about(COMMAND, fingerprint="f", earlier=OF_BEFORE)
    refused = bench.worker.look_up(question).outcome
    assert isinstance(refused, Refused)
    assert refused.code == "idempotency_key_reused"


def test_older_server_that_tells_no_fingerprint_gets_what_the_id_has(bench: Bench) -> None:
    done = bench.carry_out(fingerprint="another")
    assert bench.worker.look_up(about(COMMAND)).outcome == done


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize(
    ("done_under", "barred"), [(COMMAND, EARLIER), (EARLIER, COMMAND)], ids=["today", "earlier"]
)
def test_id_that_was_barred_does_not_hide_what_the_other_one_did(
    bench: Bench, done_under: UUID, barred: UUID, is_asked: bool
) -> None:
    """An older server took the two spellings of a key for two commands."""
    bench.journal.refuse(done_under, "plain", Expired())
    bench.journal.bar(barred)
    if is_asked:
        question = about(COMMAND, fingerprint="f", earlier=OF_BEFORE)
        assert bench.worker.look_up(question).outcome == Expired()
    else:
        command = move(COMMAND).model_copy(update={"earlier": OF_BEFORE})
        assert bench.worker.carry_out(command, NOW + 1).outcome == Expired()
    assert bench.desktop.calls == []


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
