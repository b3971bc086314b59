"""A session that is interrupted, because control of its machine changes hands."""

from uuid import uuid4

import pytest

from machine_client.link import session as session_module
from machine_client.link.events import CloseLink, LinkLost, MessageReceived, SendMessage
from machine_client.work.orders import (
    CommandEnded,
    CommandsInterrupted,
    ExpireCommand,
    InterruptCommands,
    ReleaseHeld,
)
from schemas.inputs.outcomes import Expired, Failed
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Interrupt, Interrupted
from tests.machine_client.session_script import A, B, C, Script, ack

CUT_SHORT = Failed(code="interrupted", message="cut short", injected_at_least=2)


def interrupt(script: Script) -> Interrupt:
    """A request of the server."""
    return Interrupt(request=uuid4(), server_time=script.server_time())


def test_running_command_is_interrupted_and_waiting_ones_expire(script: Script) -> None:
    keyed, unkeyed = script.input(B).model_copy(update={"fingerprint": "f"}), script.input(C)
    running, asked = script.input(A), interrupt(script)
    script.on(MessageReceived(running), script.begins(running))
    script.on(MessageReceived(keyed))
    script.on(MessageReceived(unkeyed))
    script.on(
        MessageReceived(asked),
        ExpireCommand(keyed),
        ack(C, Expired(), 0),
        InterruptCommands(asked.request),
    )
    assert not script.session.has_queued
    script.on(CommandEnded(A, CUT_SHORT, 3), ack(A, CUT_SHORT, 3))
    script.on(CommandsInterrupted(asked.request), SendMessage(Interrupted(request=asked.request)))


def test_what_comes_after_an_interrupt_is_carried_out(script: Script) -> None:
    running, later, asked = script.input(A), script.input(B), interrupt(script)
    script.on(MessageReceived(running), script.begins(running))
    script.on(MessageReceived(asked), InterruptCommands(asked.request))
    script.on(MessageReceived(later))
    script.on(CommandEnded(A, CUT_SHORT, 3), ack(A, CUT_SHORT, 3), script.begins(later))


def test_newer_link_is_not_told_of_an_earlier_ones_interrupt(script: Script) -> None:
    asked = interrupt(script)
    script.on(MessageReceived(asked), InterruptCommands(asked.request))
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(CommandsInterrupted(asked.request))


def test_more_interrupts_than_can_wait_close_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "MAX_INTERRUPTS", 1)
    script = Script()
    asked = interrupt(script)
    script.on(MessageReceived(asked), InterruptCommands(asked.request))
    (effect,) = script.session.handle(MessageReceived(interrupt(script)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.OVERFLOW
