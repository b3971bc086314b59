"""Heartbeats: when they are sent, and what their answers say."""

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import HeartbeatAck
from server.machines.link.events import (
    AbandonCommands,
    MessageReceived,
    SendMessage,
    SettleCommand,
    TimePassed,
)
from tests.links import (
    COMPLETED,
    HEARTBEAT_SECONDS,
    MARK,
    LinkScript,
    ack,
    heartbeat,
    input_message,
    submitted,
)


def test_heartbeat_is_sent_again_after_its_interval(up: LinkScript) -> None:
    up.later(HEARTBEAT_SECONDS - 0.1)
    up.on(TimePassed())
    up.later(0.1)
    up.on(TimePassed(), heartbeat(2))
    up.on(TimePassed())


def test_round_trip_is_the_time_between_heartbeat_and_its_answer(up: LinkScript) -> None:
    assert up.link.heartbeats.round_trip_seconds == 0
    up.later(HEARTBEAT_SECONDS)
    up.on(TimePassed(), heartbeat(2))
    up.later(0.25)
    up.on(MessageReceived(HeartbeatAck(sequence=2, journal_sequence=2, mark=MARK)))
    assert up.link.heartbeats.round_trip_seconds == pytest.approx(0.25)


def test_answer_to_an_older_heartbeat_is_not_an_answer_to_the_last(up: LinkScript) -> None:
    up.later(HEARTBEAT_SECONDS)
    up.on(TimePassed(), heartbeat(2))
    up.later(HEARTBEAT_SECONDS)
    up.closes_on(TimePassed(), CloseCode.HEARTBEAT_MISSED)


def test_silent_machine_is_known_to_be_gone_after_40_seconds_at_worst(up: LinkScript) -> None:
    command = up.sent()
    silent_for = 0.0
    while silent_for < 39.0:
        up.later(1.0)
        silent_for += 1.0
        up.on(TimePassed(), *([heartbeat(2)] if silent_for == 20.0 else []))
    up.later(1.0)
    rest = up.closes_on(TimePassed(), CloseCode.HEARTBEAT_MISSED, "20 s")
    assert rest == [AbandonCommands((command.command_id,))]


def test_acknowledgements_do_not_stand_in_for_a_heartbeat(up: LinkScript) -> None:
    command = input_message()
    up.later(HEARTBEAT_SECONDS)
    up.on(TimePassed(), heartbeat(2))
    up.on(submitted(command), SendMessage(command))
    up.later(HEARTBEAT_SECONDS - 1)
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    up.later(1)
    up.closes_on(TimePassed(), CloseCode.HEARTBEAT_MISSED)


def test_answer_to_a_heartbeat_that_is_not_open_closes_the_link(up: LinkScript) -> None:
    answer = MessageReceived(HeartbeatAck(sequence=1, journal_sequence=2, mark=MARK))
    up.closes_on(answer, CloseCode.MESSAGE_INVALID, "was not sent, or was answered before")
