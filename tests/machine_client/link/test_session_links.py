"""How a link begins and ends, and what outlives it."""

import pytest

from machine_client.link import session as session_module
from machine_client.link.events import (
    CloseLink,
    LinkLost,
    LinkOpened,
    MessageReceived,
    SendMessage,
    TimePassed,
)
from machine_client.work.orders import (
    CommandEnded,
    CommandLookedUp,
    JournalFailed,
    JournalMarked,
    MarkJournal,
    ReleaseHeld,
)
from schemas.inputs.outcomes import Expired, NotCarriedOut
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Heartbeat, HeartbeatAck, Ready
from tests.machine_client.session_script import DONE, MARK, A, B, C, Script, ack, hello, report


def test_hello_comes_first_and_ready_answers_welcome() -> None:
    script = Script(linked=False)
    greeting = hello(7)
    script.on(LinkOpened(greeting), SendMessage(greeting))
    welcome = script.welcome()
    # No mark: the server has not stored yet what an old copy of the journal leaves unknown.
    script.on(MessageReceived(welcome), SendMessage(Ready()))
    assert script.session.welcome == welcome


def test_every_heartbeat_is_answered_with_the_number_of_its_own_mark(script: Script) -> None:
    for sequence in (1, 2, 3):
        script.on(script.heartbeat(sequence), MarkJournal())
        script.on(JournalMarked(10 + sequence, MARK), beat(sequence, 10 + sequence))


def test_heartbeats_that_come_faster_than_marks_are_answered_in_their_order(script: Script) -> None:
    script.on(script.heartbeat(1), MarkJournal())
    script.on(script.heartbeat(2), MarkJournal())
    script.on(JournalMarked(1, MARK), beat(1, 1))
    script.on(JournalMarked(2, MARK), beat(2, 2))
    script.on(JournalMarked(3, MARK))


def test_more_heartbeats_than_can_wait_for_the_journal_close_the_link(script: Script) -> None:
    for sequence in range(session_module.MAX_HEARTBEATS):
        script.on(script.heartbeat(sequence), MarkJournal())
    (effect,) = script.session.handle(script.heartbeat(99))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.OVERFLOW


def test_heartbeat_is_answered_while_a_command_runs(script: Script) -> None:
    script.begun(A)
    script.on(script.heartbeat(7), MarkJournal())
    script.on(JournalMarked(1, MARK), beat(7, 1))


def test_mark_that_an_earlier_link_asked_for_answers_nobody(script: Script) -> None:
    script.on(script.heartbeat(1), MarkJournal())
    script.on(LinkLost(), ReleaseHeld())
    script.on(JournalMarked(1, MARK))
    script.link(1)
    script.on(JournalMarked(1, MARK))
    script.on(script.heartbeat(1), MarkJournal())
    # It is in hello already, and so in copies that were made before this link.
    script.on(JournalMarked(1, MARK))
    script.on(JournalMarked(2, MARK), beat(1, 2))


def beat(sequence: int, journal_sequence: int) -> SendMessage:
    return SendMessage(
        HeartbeatAck(sequence=sequence, journal_sequence=journal_sequence, mark=MARK)
    )


def test_protocol_that_was_not_offered_closes_the_link() -> None:
    script = Script(linked=False)
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.welcome(protocol=2)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.PROTOCOL_UNSUPPORTED
    assert "protocol 2" in effect.reason
    assert script.session.welcome is None


def test_input_that_was_said_on_another_link_is_not_carried_out(script: Script) -> None:
    command = script.input(A)
    script.on(LinkLost(), ReleaseHeld())
    script.link(1)
    script.on(MessageReceived(command))


def test_input_before_welcome_closes_the_link_and_is_not_begun() -> None:
    script = Script(linked=False)
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.input(A)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.MESSAGE_INVALID
    assert not script.session.has_queued


def test_number_of_a_mark_is_told_with_every_later_answer(script: Script) -> None:
    script.on(JournalMarked(5, MARK))
    script.on(script.resolve(A), script.looks_up(A))
    script.on(CommandLookedUp(A, NotCarriedOut(), 4), report(A, NotCarriedOut(), 5))
    # What an earlier moment's mark says comes too late to count.
    script.on(JournalMarked(3, MARK))
    script.on(script.resolve(B), script.looks_up(B))
    script.on(CommandLookedUp(B, NotCarriedOut(), 4), report(B, NotCarriedOut(), 5))


def test_welcome_of_an_earlier_link_does_not_count_on_the_next(script: Script) -> None:
    script.on(LinkLost(), ReleaseHeld())
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.input(A)))
    assert isinstance(effect, CloseLink)


def test_messages_of_a_lost_link_have_no_effect(script: Script) -> None:
    script.on(LinkLost(), ReleaseHeld())
    script.on(MessageReceived(script.input(A)))
    script.on(script.resolve(A))
    script.on(MessageReceived(Heartbeat(sequence=1, server_time=script.server_time())))


def test_lost_link_drops_the_queue_and_releases_what_is_held(script: Script) -> None:
    _first, _second = script.begun(A), script.queued(B)
    script.on(LinkLost(), ReleaseHeld())
    assert not script.session.has_queued
    script.on(CommandEnded(A, DONE, 2))
    script.link(2)
    script.on(TimePassed())


def test_command_of_an_earlier_link_is_not_acknowledged_on_a_later_one(script: Script) -> None:
    script.begun(A)
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(CommandEnded(A, DONE, 2))


def test_command_of_an_earlier_link_that_was_asked_about_is_acknowledged(script: Script) -> None:
    script.begun(A)
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(script.resolve(A), report(A, None))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_running_command_that_a_new_link_says_again_is_answered_when_it_ends() -> None:
    script = Script()
    script.begun(A)
    script.on(LinkLost(), ReleaseHeld())
    script.link(1)
    script.on(MessageReceived(script.input(A)))
    script.on(CommandEnded(A, DONE, 4), ack(A, DONE, 4))


def test_new_command_waits_for_the_running_one_of_an_earlier_link(script: Script) -> None:
    script.begun(A)
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    new = script.queued(B)
    script.on(CommandEnded(A, DONE, 2), script.begins(new))


def test_look_up_that_ends_after_the_link_is_told_to_nobody(script: Script) -> None:
    script.on(script.resolve(A), script.looks_up(A))
    script.on(LinkLost(), ReleaseHeld())
    script.on(CommandLookedUp(A, NotCarriedOut(), 3))


def test_look_up_of_an_earlier_link_answers_only_a_link_that_asked_as_well(script: Script) -> None:
    """A server that is told what it did not ask about closes the link for good."""
    for command_id in (A, B):
        script.on(script.resolve(command_id), script.looks_up(command_id))
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(script.resolve(B), script.looks_up(B))
    script.on(CommandLookedUp(A, NotCarriedOut(), 3))
    script.on(CommandLookedUp(B, NotCarriedOut(), 4), report(B, NotCarriedOut(), 4))
    script.on(CommandLookedUp(B, NotCarriedOut(), 4))


def test_more_questions_than_can_wait_for_the_journal_close_the_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_module, "MAX_LOOK_UPS", 2)
    script = Script()
    for command_id in (A, B):
        script.on(script.resolve(command_id), script.looks_up(command_id))
    # The link's end empties no queue of the journal's.
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    (effect,) = script.session.handle(script.resolve(C))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.OVERFLOW
    script.on(CommandLookedUp(A, NotCarriedOut(), 3))
    script.on(script.resolve(C), script.looks_up(C))
    (effect,) = script.session.handle(script.resolve(A))
    assert isinstance(effect, CloseLink)
    script.on(JournalFailed("it is full", B), CloseLink(CloseCode.JOURNAL_FAILED, "it is full"))
    script.on(script.resolve(A), script.looks_up(A))


def test_journal_that_fails_ends_the_link_once_with_the_reason(script: Script) -> None:
    closed = CloseLink(CloseCode.JOURNAL_FAILED, "the disk is full")
    script.on(JournalFailed("the disk is full"), closed)
    script.on(JournalFailed("the disk is full"))
    script.on(LinkLost(), ReleaseHeld())
    script.on(JournalFailed("the disk is full"))
    script.link()
    script.on(JournalFailed("the disk is full"), closed)


def test_journal_sequence_never_goes_back_on_the_wire() -> None:
    script = Script(linked=False)
    script.link(journal_sequence=50)
    script.begun(A)
    script.on(CommandEnded(A, DONE, 40), ack(A, DONE, 50))
    script.on(script.resolve(B), script.looks_up(B))
    script.on(CommandLookedUp(B, NotCarriedOut(), 51), report(B, NotCarriedOut(), 51))
    script.on(MessageReceived(script.input(C, within=-1)), ack(C, Expired(), 51))
