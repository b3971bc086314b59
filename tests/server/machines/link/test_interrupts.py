from uuid import uuid4

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import HeartbeatAck, Interrupt, Interrupted, Ready
from server.machines.link.errors import ControlEndedError, MachineControlledError
from server.machines.link.events import (
    AdmitMachine,
    InputSubmitted,
    LinkReady,
    LinkUp,
    MachineAdmitted,
    MarkRequested,
    MessageReceived,
    Reconciled,
    RestrictionsRead,
    SendMessage,
)
from server.machines.link.restrictions import NONE, Control, Restrictions
from tests.links import SERVER_TIME, LinkScript, heartbeat, hello, input_message

ADA = Restrictions(control=Control("of Ada", "Ada", SERVER_TIME))
BOB = Restrictions(control=Control("of Bob", "Bob", SERVER_TIME))


def interrupt_on(script: LinkScript, restrictions: Restrictions) -> Interrupt:
    """Feed restrictions by which control changes hands; what the machine is asked."""
    (effect,) = script.link.handle(RestrictionsRead(restrictions))
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, Interrupt)
    assert effect.message.server_time == SERVER_TIME
    return effect.message


def test_machine_is_interrupted_whenever_control_changes_hands(up: LinkScript) -> None:
    for restrictions in (ADA, BOB, NONE):
        asked = interrupt_on(up, restrictions)
        assert up.link.interrupts.are_open
        up.on(MessageReceived(Interrupted(request=asked.request)))
        assert not up.link.interrupts.are_open
        up.on(RestrictionsRead(restrictions))


def test_pause_alone_interrupts_nothing(up: LinkScript) -> None:
    up.on(RestrictionsRead(Restrictions(paused_since=SERVER_TIME)))
    up.on(RestrictionsRead(NONE))


def test_every_interrupt_is_waited_for(up: LinkScript) -> None:
    first, second = interrupt_on(up, ADA), interrupt_on(up, BOB)
    up.on(MessageReceived(Interrupted(request=first.request)))
    assert up.link.interrupts.are_open
    up.on(MessageReceived(Interrupted(request=second.request)))
    assert not up.link.interrupts.are_open


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


@pytest.fixture
def older() -> LinkScript:
    """A link that is up, of a machine client that knows no interrupts."""
    script = LinkScript()
    greeting = hello(protocols=[1, 2])
    script.on(MessageReceived(greeting), AdmitMachine(greeting))
    script.link.handle(MachineAdmitted())
    script.on(MessageReceived(Ready()), LinkReady())
    script.on(MarkRequested(), heartbeat(1))
    script.on(MessageReceived(HeartbeatAck(sequence=1, journal_sequence=1)), LinkUp())
    script.on(Reconciled())
    return script


def test_client_of_an_older_protocol_is_asked_nothing_and_says_nothing(older: LinkScript) -> None:
    script = older
    assert not script.link.availability.can_be_interrupted
    script.on(RestrictionsRead(ADA))
    with pytest.raises(MachineControlledError):
        script.link.reserve()
    message = MessageReceived(Interrupted(request=uuid4()))
    script.closes_on(message, CloseCode.MESSAGE_INVALID, "interrupted")


@pytest.mark.parametrize("restrictions", [BOB, NONE])
def test_client_of_an_older_protocol_releases_by_the_end_of_its_link(
    older: LinkScript, restrictions: Restrictions
) -> None:
    """It came while somebody had control, as the client of before was put back in its place."""
    older.on(RestrictionsRead(ADA))
    older.on(RestrictionsRead(ADA))
    reason = "too old to be interrupted"
    older.closes_on(RestrictionsRead(restrictions), CloseCode.SERVER_ERROR, reason)
