"""The protocol that both sides speak, and what is said under it."""

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import DesktopChanged, Welcome
from server.machines.link import greeting
from server.machines.link.events import (
    AdmitMachine,
    DesktopIsNow,
    MachineAdmitted,
    MessageReceived,
    SendMessage,
)
from tests.links import (
    DESKTOP_CHANGED,
    LinkScript,
    hello,
)


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that speaks protocol 2 as well, in which alone a desktop may change."""
    monkeypatch.setattr(greeting, "PROTOCOLS", (1, 2))
    monkeypatch.setattr(DesktopChanged, "since", 2)


def protocol_of(script: LinkScript, offered: list[int]) -> int:
    """What is chosen for a client that speaks these."""
    script.link.handle(MessageReceived(hello(protocols=offered)))
    (welcome,) = script.link.handle(MachineAdmitted())
    assert isinstance(welcome, SendMessage)
    assert isinstance(welcome.message, Welcome)
    return welcome.message.protocol


def test_one_common_protocol_among_several_is_enough(script: LinkScript) -> None:
    said = hello(protocols=[7, 1, 9])
    script.on(MessageReceived(said), AdmitMachine(said))


def test_client_that_is_too_old_is_told_so(script: LinkScript) -> None:
    event = MessageReceived(hello(protocols=[0]))
    code = CloseCode.PROTOCOL_UNSUPPORTED
    assert script.closes_on(event, code, "machine client is too old", "speaks protocol 1,") == []


def test_server_that_is_too_old_is_named_to_the_client(script: LinkScript) -> None:
    event = MessageReceived(hello(protocols=[8, 7]))
    code = CloseCode.PROTOCOL_UNSUPPORTED
    assert script.closes_on(event, code, "server is too old", "7, 8") == []


@pytest.mark.parametrize(("offered", "chosen"), [([1], 1), ([1, 2], 2), ([2, 1, 9], 2)])
def test_newest_protocol_that_both_sides_speak_is_chosen(
    script: LinkScript, next_version: None, offered: list[int], chosen: int
) -> None:
    assert protocol_of(script, offered) == chosen


def test_message_of_a_later_protocol_has_no_place_on_a_link_of_an_earlier_one(
    script: LinkScript, next_version: None
) -> None:
    assert protocol_of(script, [1]) == 1
    changed = MessageReceived(DESKTOP_CHANGED)
    assert script.closes_on(changed, CloseCode.MESSAGE_INVALID, "desktop_changed") == []
    later = LinkScript()
    assert protocol_of(later, [1, 2]) == 2
    later.on(changed, DesktopIsNow(DESKTOP_CHANGED))
