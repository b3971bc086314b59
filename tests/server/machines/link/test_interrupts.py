from dataclasses import replace
from uuid import uuid4

import pytest

from schemas.inputs.bodies import Operation
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input, Interrupt, Interrupted
from server.machines.link.commands import LATE_SECONDS
from server.machines.link.errors import ControlEndedError, MachineControlledError
from server.machines.link.events import (
    AvailabilityChanged,
    InputSubmitted,
    MessageReceived,
    RestrictionsRead,
    SendMessage,
    SettleCommand,
    StopAnnounced,
    TimePassed,
)
from server.machines.link.restrictions import NONE, Control, Pause, Restrictions
from tests.links import COMPLETED, SERVER_TIME, LinkScript, ack, input_message, submitted

ADA = Restrictions(control=Control("of Ada", "Ada", SERVER_TIME))
PAUSE = Pause(SERVER_TIME, "paused")
BOB = Restrictions(control=Control("of Bob", "Bob", SERVER_TIME))


def several() -> Input:
    """A command that is several actions."""
    body = {"actions": [{"operation": "wait", "seconds": 60.0}], "screenshot": None}
    return input_message().model_copy(update={"operation": Operation.ACTIONS, "body": body})


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


def test_next_link_interrupts_nothing_of_who_had_control_confirmed(up: LinkScript) -> None:
    control = Control("of Ada", "Ada", SERVER_TIME, is_confirmed=True)
    up.on(RestrictionsRead(Restrictions(control=control)))
    interrupt_on(up, BOB)
    # Ada has it again since: Bob had it meanwhile.
    interrupt_on(up, Restrictions(control=control))


@pytest.mark.parametrize("is_run", [False, True])
def test_next_link_interrupts_a_run_alone_where_the_machine_is_paused_since(
    up: LinkScript, is_run: bool
) -> None:
    control = Control("of Ada", "Ada", SERVER_TIME, is_run=is_run, is_confirmed=True)
    paused = Restrictions(PAUSE, control)
    if is_run:
        interrupt_on(up, paused)
    else:
        up.on(RestrictionsRead(paused))


def test_several_actions_that_run_are_interrupted_before_the_server_stops(up: LinkScript) -> None:
    up.on(StopAnnounced())
    actions = several()
    up.on(submitted(actions), SendMessage(actions))
    (asked,) = up.link.handle(StopAnnounced())
    assert isinstance(asked, SendMessage)
    assert isinstance(asked.message, Interrupt)
    up.on(ack(actions.command_id), SettleCommand(actions.command_id, COMPLETED))
    up.on(StopAnnounced())


def test_input_that_runs_before_several_actions_goes_on_where_the_server_stops(
    up: LinkScript,
) -> None:
    single, actions = up.sent(), several()
    up.on(submitted(actions), SendMessage(actions))
    up.on(StopAnnounced())
    up.on(ack(single.command_id), SettleCommand(single.command_id, COMPLETED))
    assert len(up.link.handle(StopAnnounced())) == 1


def test_several_actions_that_are_overdue_are_not_waited_for(up: LinkScript) -> None:
    actions = several()
    up.on(submitted(actions, answer_by=0.0), SendMessage(actions))
    up.later(LATE_SECONDS)
    up.on(TimePassed(), AvailabilityChanged())
    up.on(StopAnnounced())


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
