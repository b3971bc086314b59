"""The protocol that both sides speak, and what is said under it."""

from dataclasses import replace

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import Welcome
from server.machines.link.events import (
    AdmitMachine,
    MachineAdmitted,
    MessageReceived,
    SendMessage,
)
from tests.links import (
    DESKTOP_CHANGED,
    LinkScript,
    hello,
)


def test_one_common_protocol_among_several_is_enough(script: LinkScript) -> None:
    greeting = hello(protocols=[7, 1, 9])
    script.on(MessageReceived(greeting), AdmitMachine(greeting))


def test_client_that_is_too_old_is_told_so(script: LinkScript) -> None:
    event = MessageReceived(hello(protocols=[0]))
    code = CloseCode.PROTOCOL_UNSUPPORTED
    assert script.closes_on(event, code, "machine client is too old", "protocol 1, 2, 3") == []


def test_server_that_is_too_old_is_named_to_the_client(script: LinkScript) -> None:
    event = MessageReceived(hello(protocols=[8, 7]))
    code = CloseCode.PROTOCOL_UNSUPPORTED
    assert script.closes_on(event, code, "server is too old", "7, 8") == []


@pytest.mark.parametrize(
    ("offered", "chosen"), [([1], 1), ([1, 2], 2), ([2, 1, 9], 2), ([1, 2, 3], 3)]
)
def test_newest_protocol_that_both_sides_speak_is_chosen(
    script: LinkScript, offered: list[int], chosen: int
) -> None:
    script.link.handle(MessageReceived(hello(protocols=offered)))
    (welcome,) = script.link.handle(MachineAdmitted())
    assert isinstance(welcome, SendMessage)
    assert isinstance(welcome.message, Welcome)
    assert welcome.message.protocol == chosen


def test_nothing_of_protocol_2_is_said_under_protocol_1(script: LinkScript) -> None:
    script.link.terms = replace(script.link.terms, reconnect_spread_seconds=30.0)
    script.link.handle(MessageReceived(hello(protocols=[1])))
    (welcome,) = script.link.handle(MachineAdmitted())
    assert isinstance(welcome, SendMessage)
    assert "spread" not in welcome.message.model_dump_json()
    changed = MessageReceived(DESKTOP_CHANGED)
    assert script.closes_on(changed, CloseCode.MESSAGE_INVALID, "desktop_changed") == []
