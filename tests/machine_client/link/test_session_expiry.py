"""What is late is not begun: by the server's clock, and with the journal's word."""

from machine_client.link.events import (
    LinkLost,
    LinkOpened,
    MessageReceived,
    SendMessage,
    TimePassed,
)
from machine_client.work.orders import BeginCommand, CommandEnded, ExpireCommand, ReleaseHeld
from schemas.inputs.outcomes import Expired
from schemas.link.messages import (
    Ready,
)
from tests.machine_client.session_script import DONE, SERVER_EPOCH, A, B, C, Script, ack, hello


def test_command_that_expired_in_the_queue_is_acknowledged_without_being_begun() -> None:
    script = Script()
    first, second, third = script.input(A, within=60), script.input(B, within=1), script.input(C)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(third))
    script.clock.now = 1.0
    script.on(TimePassed())
    script.clock.now = 1.001
    script.on(TimePassed(), ack(B, Expired()))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), script.begins(third))


def test_command_whose_turn_comes_late_is_not_begun_even_without_a_tick(script: Script) -> None:
    first, second, third = script.input(A), script.input(B, within=1), script.input(C, within=9)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(third))
    script.clock.now = 2.0
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), ack(B, Expired(), 2), script.begins(third))


def test_command_that_left_the_server_expired_is_not_begun(script: Script) -> None:
    script.on(MessageReceived(script.input(A, within=-0.001)), ack(A, Expired()))


def test_late_command_that_a_key_can_repeat_is_answered_from_the_journal(script: Script) -> None:
    running, late = script.input(A), script.input(B, within=1, fingerprint="f")
    script.on(MessageReceived(running), script.begins(running))
    script.on(MessageReceived(late))
    script.clock.now = 5.0
    script.on(TimePassed(), ExpireCommand(late))
    script.on(CommandEnded(B, Expired(), 1), ack(B, Expired(), 1))
    # What expired beside it has not ended the running one.
    third = script.queued(C)
    script.on(CommandEnded(A, DONE, 3), ack(A, DONE, 3), script.begins(third))


def test_late_command_that_no_key_can_repeat_expires_without_the_journal(script: Script) -> None:
    running, late = script.input(A), script.input(B, within=1)
    script.on(MessageReceived(running), script.begins(running))
    script.on(MessageReceived(late))
    script.clock.now = 5.0
    script.on(TimePassed(), ack(B, Expired()))


def test_late_command_whose_key_outlived_the_servers_record_has_its_first_outcome() -> None:
    script = Script()
    late = script.input(A, within=-0.001, fingerprint="f")
    script.on(MessageReceived(late), ExpireCommand(late))
    script.on(CommandEnded(A, DONE, 4), ack(A, DONE, 4))


def test_late_answer_of_a_lost_link_is_nobodys(script: Script) -> None:
    late = script.input(A, within=-0.001, fingerprint="f")
    script.on(MessageReceived(late), ExpireCommand(late))
    script.on(LinkLost(), ReleaseHeld())
    script.link(1)
    script.on(CommandEnded(A, Expired(), 1))


def test_expiry_is_by_the_servers_clock_whatever_the_local_one_says() -> None:
    script = Script(linked=False)
    script.clock.now = 86_400.0
    script.link()
    command = script.input(A, within=5)
    script.on(MessageReceived(command), BeginCommand(command, 86_405.0))


def test_command_that_stalled_on_the_link_past_its_expiry_is_not_begun(script: Script) -> None:
    script.clock.now = 30.0
    script.on(MessageReceived(script.input(A, within=10, delay=20)), ack(A, Expired()))


def test_command_that_stalled_on_the_link_keeps_its_own_expiry(script: Script) -> None:
    script.clock.now = 30.0
    command = script.input(A, within=25, delay=20)
    script.on(MessageReceived(command), BeginCommand(command, 35.0))


def test_after_a_sleep_nothing_late_begins(script: Script) -> None:
    _first, _second = script.begun(A), script.queued(B)
    script.clock.now += 3600.0
    script.queued(C, within=10, delay=3599.0)
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), ack(B, Expired(), 2), ack(C, Expired(), 2))


def test_clock_of_an_earlier_link_is_forgotten_with_it(script: Script) -> None:
    script.on(LinkLost(), ReleaseHeld())
    greeting = hello()
    script.on(LinkOpened(greeting), SendMessage(greeting))
    behind = SERVER_EPOCH - 60_000
    welcome = script.welcome().model_copy(update={"server_time": behind})
    script.on(MessageReceived(welcome), SendMessage(Ready()))
    command = script.input(A).model_copy(
        update={"server_time": behind, "expires_at": behind + 5_000}
    )
    script.on(MessageReceived(command), BeginCommand(command, 5.0))
