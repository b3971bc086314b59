from dataclasses import replace
from uuid import uuid4

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import Interrupt, Interrupted
from server.machines.link.errors import ControlEndedError, MachineControlledError
from server.machines.link.events import (
    InputSubmitted,
    MessageReceived,
    RestrictionsRead,
    SendMessage,
)
from server.machines.link.restrictions import NONE, Control, Pause, Restrictions
from tests.links import SERVER_TIME, LinkScript, input_message

ADA = Restrictions(control=Control("of Ada", "Ada", SERVER_TIME))
PAUSE = Pause(SERVER_TIME, "paused")
BOB = Restrictions(control=Control("of Bob", "Bob", SERVER_TIME))


def interrupt_on(script: LinkScript, restrictions: Restrictions) -> Interrupt:
    """Feed restrictions that take the machine from somebody; what it is asked."""
    (effect,) = script.link.handle(RestrictionsRead(restrictions))
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, Interrupt)
    assert effect.message.server_time == SERVER_TIME
    return effect.message


def test_machine_is_interrupted_whenever_control_changes_hands(up: LinkScript) -> None:
    for restrictions in (ADA, BOB, NONE):
        asked = interrupt_on(up, restrictions)
        assert up.link.interrupts.is_pending
        up.on(MessageReceived(Interrupted(request=asked.request)))
        assert not up.link.interrupts.is_pending
        up.on(RestrictionsRead(restrictions))


def test_machine_is_interrupted_when_a_pause_begins_and_then_no_more(up: LinkScript) -> None:
    for _ in range(2):
        interrupt_on(up, Restrictions(PAUSE))
        up.on(RestrictionsRead(Restrictions(replace(PAUSE, why="paused for the printer"))))
        up.on(RestrictionsRead(NONE))


def test_pause_interrupts_nothing_of_who_has_control(up: LinkScript) -> None:
    interrupt_on(up, ADA)
    up.on(RestrictionsRead(replace(ADA, pause=PAUSE)))
    up.on(RestrictionsRead(ADA))
    up.on(RestrictionsRead(replace(ADA, pause=PAUSE)))
    interrupt_on(up, Restrictions(PAUSE))


def test_every_interrupt_is_waited_for(up: LinkScript) -> None:
    first, second = interrupt_on(up, ADA), interrupt_on(up, BOB)
    up.on(MessageReceived(Interrupted(request=first.request)))
    assert up.link.interrupts.is_pending
    up.on(MessageReceived(Interrupted(request=second.request)))
    assert not up.link.interrupts.is_pending


def test_interrupt_that_nobody_asked_for_closes_the_link(up: LinkScript) -> None:
    asked = interrupt_on(up, ADA)
    up.on(MessageReceived(Interrupted(request=asked.request)))
    for request in (asked.request, uuid4()):
        script = LinkScript()
        script.bring_up()
        message = MessageReceived(Interrupted(request=request))
        script.closes_on(message, CloseCode.MESSAGE_INVALID, "not asked for")


def test_holder_alone_may_submit(up: LinkScript) -> None:
    interrupt_on(up, ADA)
    command = input_message()
    with pytest.raises(MachineControlledError):
        up.link.handle(InputSubmitted(command, 1e9))
    with pytest.raises(ControlEndedError):
        up.link.reserve("of Bob")
    up.link.reserve("of Ada")
    up.on(InputSubmitted(command, 1e9, "of Ada"), SendMessage(command))
