"""The order of commands, and the answers to what is asked about them."""

from uuid import uuid4

import pytest

from machine_client.link import waiting
from machine_client.link.events import CloseLink, MessageReceived, ReplaceToken
from machine_client.work.orders import CommandEnded, CommandLookedUp
from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.close_codes import CloseCode
from schemas.link.messages import NewToken
from tests.machine_client.session_script import DONE, MARK, A, B, C, Script, ack, report


def test_command_that_is_said_twice_runs_once_and_is_answered_once(script: Script) -> None:
    first, second = script.begun(A), script.queued(B)
    script.on(MessageReceived(first))
    script.on(MessageReceived(second))
    script.on(CommandEnded(A, DONE, 3), ack(A, DONE, 3), script.begins(second))
    script.on(CommandEnded(B, DONE, 5), ack(B, DONE, 5))


def test_commands_are_begun_one_at_a_time_in_order_and_acknowledged(script: Script) -> None:
    _first, second, third = script.begun(A), script.queued(B), script.queued(C)
    assert script.session.has_queued
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), script.begins(second))
    script.on(CommandEnded(B, DONE, 4), ack(B, DONE, 4), script.begins(third))
    assert not script.session.has_queued
    script.on(CommandEnded(C, DONE, 6), ack(C, DONE, 6))
    script.begun(A)


def test_id_that_comes_again_later_is_acknowledged_again(script: Script) -> None:
    command = script.input(A)
    for _ in range(2):
        script.on(MessageReceived(command), script.begins(command))
        script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_running_command_that_is_asked_about_is_reported_as_running(script: Script) -> None:
    script.begun(A)
    script.on(script.resolve(A), report(A, None))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_queued_command_that_is_asked_about_never_begins(script: Script) -> None:
    _first, _second, third = script.begun(A), script.queued(B), script.queued(C)
    script.on(script.resolve(B, MARK), script.looks_up(B, MARK))
    script.on(CommandLookedUp(B, NotCarriedOut(), 3), report(B, NotCarriedOut(), 3))
    script.on(CommandEnded(A, DONE, 4), ack(A, DONE, 4), script.begins(third))


def test_unknown_command_that_is_asked_about_is_looked_up_and_reported(script: Script) -> None:
    script.on(script.resolve(A), script.looks_up(A))
    script.on(CommandLookedUp(A, DONE, 9), report(A, DONE, 9))


def test_more_commands_than_can_wait_close_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MOST_WAITING", 2)
    script = Script()
    script.begun(A)
    for _ in range(2):
        script.on(MessageReceived(script.input(uuid4())))
    (effect,) = script.session.handle(MessageReceived(script.input(C)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.OVERFLOW


def test_new_token_is_made_when_the_server_wants_one(script: Script) -> None:
    wanted = NewToken(code="fhj_c", server_time=0)
    assert "fhj_c" not in repr(wanted)
    script.on(MessageReceived(wanted), ReplaceToken("fhj_c"))
