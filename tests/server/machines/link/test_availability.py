"""What stands between an input and a desktop whose link is up."""

from typing import Any

import pytest

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import NotCarriedOut
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Capability, DesktopChanged, HeartbeatAck, Input, Interrupt, Ready
from server.machines.link.availability import STUCK
from server.machines.link.commands import LATE_SECONDS, RUNNING_SECONDS
from server.machines.link.errors import (
    LinkBusyError,
    LinkDownError,
    LinkUnsettledError,
    MachinePausedError,
    NoElementsError,
    NoInputError,
)
from server.machines.link.events import (
    AbandonCommands,
    AvailabilityChanged,
    CommandRuns,
    DesktopIsNow,
    MachineAdmitted,
    MarkRequested,
    MessageReceived,
    Reconciled,
    ResolutionRequested,
    RestrictionsRead,
    SendMessage,
    SettleCommand,
    TimePassed,
)
from server.machines.link.restrictions import NONE, Pause, Restrictions
from tests.links import (
    COMPLETED,
    MARK,
    SERVER_TIME,
    LinkScript,
    about,
    ack,
    hello,
    input_message,
    report,
    submitted,
)

DUE = 1010.0 - LATE_SECONDS
"""What is due then is overdue ten seconds after a script begins, by its clock."""


def stuck(up: LinkScript) -> None:
    """A command is sent, and its answer is late, while heartbeats are answered."""
    late = input_message()
    up.on(submitted(late, DUE), SendMessage(late))
    up.later(10.5)
    up.on(TimePassed(), AvailabilityChanged())


def test_machine_is_not_stuck_by_what_was_sent_late(up: LinkScript) -> None:
    command = input_message()
    up.on(submitted(command, 980.0), SendMessage(command))
    up.later(LATE_SECONDS - 0.5)
    up.on(TimePassed())
    up.later(0.5)
    up.on(TimePassed(), AvailabilityChanged())


def test_link_refuses_what_is_submitted_before_it_is_up() -> None:
    script = LinkScript()
    for event in (
        MessageReceived(hello()),
        MachineAdmitted(),
        MessageReceived(Ready()),
        MarkRequested(),
    ):
        with pytest.raises(LinkDownError):
            script.link.handle(submitted(input_message()))
        script.link.handle(event)
    with pytest.raises(LinkDownError):
        script.link.reserve()


def test_link_refuses_what_is_submitted_before_it_is_reconciled() -> None:
    script = LinkScript()
    script.link.handle(MessageReceived(hello()))
    script.link.handle(MachineAdmitted())
    script.link.handle(MessageReceived(Ready()))
    script.link.handle(MarkRequested())
    script.link.handle(MessageReceived(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK)))
    script.link.reserve()
    with pytest.raises(LinkUnsettledError):
        script.link.handle(submitted(input_message()))
    script.on(Reconciled())
    script.sent()


def test_paused_machine_takes_nothing_and_says_how_what_it_had_ended(up: LinkScript) -> None:
    command = up.sent()
    (asked,) = up.link.handle(RestrictionsRead(Restrictions(Pause(SERVER_TIME - 5, "paused"))))
    assert isinstance(asked, SendMessage)
    assert isinstance(asked.message, Interrupt)
    for refused in (up.link.reserve, lambda: up.link.handle(submitted(input_message()))):
        with pytest.raises(MachinePausedError) as caught:
            refused()
        assert caught.value.since == SERVER_TIME - 5
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    up.on(RestrictionsRead(NONE))
    up.on(submitted(command), SendMessage(command))


def test_desktop_without_input_takes_nothing(up: LinkScript) -> None:
    gone = Capability(available=False, reason="the display is gone")
    changed = DesktopChanged(displays=[], input=gone, screen=gone, elements=gone)
    up.on(MessageReceived(changed), DesktopIsNow(changed))
    with pytest.raises(NoInputError) as caught:
        up.link.handle(submitted(input_message()))
    assert (caught.value.reason, caught.value.since) == ("the display is gone", SERVER_TIME)


SAVE = {"element": {"name": "Save"}}
NAMING_ELEMENTS = [
    (Operation.MOUSE_CLICK, SAVE),
    (Operation.MOUSE_DRAG, {"start_element": SAVE["element"], "to_x": 1, "to_y": 2}),
    (Operation.MOUSE_DRAG, {"start_x": 1, "start_y": 2, "to_element": SAVE["element"]}),
    (Operation.ELEMENT_INVOKE, SAVE),
    (
        Operation.ACTIONS,
        {
            "actions": [{"operation": "wait"}, {"operation": "mouse.move", **SAVE}],
            "screenshot": None,
        },
    ),
]


@pytest.mark.parametrize(("operation", "body"), NAMING_ELEMENTS)
def test_machine_that_tells_of_no_elements_takes_none(
    up: LinkScript, operation: Operation, body: dict[str, Any]
) -> None:
    command = input_message().model_copy(update={"operation": operation, "body": body})
    with pytest.raises(NoElementsError, match="no accessibility bus"):
        up.link.handle(submitted(command))
    can = Capability(available=True)
    changed = DesktopChanged(displays=[], input=can, screen=can, elements=can)
    up.on(MessageReceived(changed), DesktopIsNow(changed))
    up.on(submitted(command), SendMessage(command))


def test_wait_for_an_element_needs_them_and_another_wait_does_not(up: LinkScript) -> None:
    can = Capability(available=True)
    none = Capability(available=False)
    changed = DesktopChanged(displays=[], input=can, screen=can, elements=none)
    up.on(MessageReceived(changed), DesktopIsNow(changed))

    def waiting(condition: dict[str, Any]) -> Input:
        wait = {"operation": "wait_for", "any": [condition]}
        body = {"actions": [wait], "screenshot": None}
        update = {"operation": Operation.ACTIONS, "body": body}
        return input_message().model_copy(update=update)

    with pytest.raises(NoElementsError, match="did not say why"):
        up.link.handle(submitted(waiting(SAVE)))
    still = waiting({"still": 1})
    up.on(submitted(still), SendMessage(still))


def test_no_more_is_submitted_than_may_be_unanswered(up: LinkScript) -> None:
    up.link.commands.limit = 2
    for _ in range(2):
        up.link.handle(submitted(input_message()))
    with pytest.raises(LinkBusyError):
        up.link.handle(submitted(input_message()))


def test_desktop_that_is_late_with_an_answer_is_stuck_until_it_gives_it(up: LinkScript) -> None:
    late = input_message()
    up.on(submitted(late, DUE), SendMessage(late))
    up.later(9.0)
    up.on(TimePassed())
    assert up.link.availability.no_input is None
    up.later(1.0)
    up.on(TimePassed(), AvailabilityChanged())
    assert up.link.availability.no_input == (STUCK, SERVER_TIME)
    with pytest.raises(NoInputError, match="stuck"):
        up.link.reserve()
    up.on(ack(late.command_id), SettleCommand(late.command_id, COMPLETED), AvailabilityChanged())
    assert up.link.availability.no_input is None
    up.link.reserve()


def test_stuck_desktop_is_told_once_and_holds_no_slots(up: LinkScript) -> None:
    up.link.commands.limit = 2
    commands = [input_message() for _ in range(2)]
    for number, command in enumerate(commands):
        up.on(submitted(command, DUE + number), SendMessage(command))
    up.later(10.5)
    up.on(TimePassed(), AvailabilityChanged())
    up.later(1.0)
    up.on(TimePassed())
    assert not up.link.commands.unanswered
    up.link.commands.check_room()
    first, second = (command.command_id for command in commands)
    up.on(ack(first), SettleCommand(first, COMPLETED))
    assert up.link.availability.no_input is not None
    up.on(ack(second, sequence=2), SettleCommand(second, COMPLETED), AvailabilityChanged())


def test_late_command_that_is_asked_about_recovers_with_its_acknowledgement(
    up: LinkScript,
) -> None:
    command = about(input_message().command_id)
    up.on(ResolutionRequested(command), SendMessage(command))
    up.on(report(command.command_id, None), CommandRuns(command.command_id))
    up.later(RUNNING_SECONDS + LATE_SECONDS - 0.5)
    assert AvailabilityChanged() not in up.link.handle(TimePassed())
    up.link.handle(MessageReceived(HeartbeatAck(sequence=2, journal_sequence=2, mark=MARK)))
    up.later(0.5)
    assert AvailabilityChanged() in up.link.handle(TimePassed())
    up.on(
        ack(command.command_id, sequence=3),
        SettleCommand(command.command_id, COMPLETED),
        AvailabilityChanged(),
    )


def test_late_command_that_never_begins_is_settled_by_its_report(up: LinkScript) -> None:
    stuck(up)
    (command_id,) = up.link.commands.overdue
    question = about(command_id)
    up.on(ResolutionRequested(question), SendMessage(question))
    # It waited for its turn: no acknowledgement follows, and none would be a lie.
    up.on(
        report(command_id, NotCarriedOut()),
        SettleCommand(command_id, NotCarriedOut()),
        AvailabilityChanged(),
    )
    up.link.reserve()
    up.on(ack(command_id, NotCarriedOut()), SettleCommand(command_id, NotCarriedOut()))


def test_report_that_contradicts_itself_leaves_nobody_waiting(up: LinkScript) -> None:
    command = up.sent()
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    question = about(command.command_id)
    up.on(ResolutionRequested(question), SendMessage(question))
    rest = up.closes_on(
        report(command.command_id, NotCarriedOut()), CloseCode.MESSAGE_INVALID, "contradicts"
    )
    assert rest == [AbandonCommands((command.command_id,))]


def test_desktop_is_online_since_it_recovered(up: LinkScript) -> None:
    stuck(up)
    (command_id,) = up.link.commands.overdue
    up.link.server_time = lambda: SERVER_TIME + 60_000
    up.link.handle(ack(command_id))
    assert up.link.availability.input_since == SERVER_TIME + 60_000
