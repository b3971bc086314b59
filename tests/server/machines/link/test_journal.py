"""The journal's number, as a link hears it."""

from schemas.link.close_codes import CloseCode
from schemas.link.messages import HeartbeatAck, Ready
from server.machines.link.events import (
    AbandonCommands,
    AdmitMachine,
    LinkReady,
    MachineAdmitted,
    MarkRequested,
    MessageReceived,
    ResolutionRequested,
    SendMessage,
    SettleCommand,
)
from server.machines.link.journal import MAX_ENTRIES_PER_COMMAND
from tests.links import (
    COMPLETED,
    MARK,
    WELCOME,
    LinkScript,
    about,
    ack,
    heartbeat,
    hello,
    input_message,
    report,
)


def test_first_heartbeat_without_a_mark_closes_the_link(script: LinkScript) -> None:
    greeting = hello(sequence=7)
    script.on(MessageReceived(greeting), AdmitMachine(greeting))
    script.on(MachineAdmitted(), WELCOME)
    script.on(MessageReceived(Ready()), LinkReady())
    script.on(MarkRequested(), heartbeat(1))
    event = MessageReceived(HeartbeatAck(sequence=1, journal_sequence=7, mark=MARK))
    assert script.closes_on(event, CloseCode.MESSAGE_INVALID, "no mark of this link", "7") == []
    assert script.link.is_over


def test_journal_that_jumps_closes_the_link(up: LinkScript) -> None:
    command = up.sent()
    event = ack(command.command_id, sequence=2**62)
    rest = up.closes_on(event, CloseCode.MESSAGE_INVALID, "jumped from 1 to", "for 1 commands")
    assert rest == [AbandonCommands((command.command_id,))]


def test_number_grows_by_what_many_commands_can_have_written(up: LinkScript) -> None:
    sequence = 1
    for _ in range(5):
        command = up.sent()
        sequence += MAX_ENTRIES_PER_COMMAND - 1
        up.on(
            ack(command.command_id, sequence=sequence),
            SettleCommand(command.command_id, COMPLETED),
        )


def test_journal_that_goes_back_closes_the_link_and_settles_nothing(script: LinkScript) -> None:
    script.bring_up(sequence=7)
    command = script.sent()
    event = ack(command.command_id, sequence=6)
    rest = script.closes_on(event, CloseCode.MESSAGE_INVALID, "from 8 to 6")
    assert rest == [AbandonCommands((command.command_id,))]


def test_journal_that_goes_back_in_a_report_closes_the_link(script: LinkScript) -> None:
    script.bring_up(sequence=7)
    command_id = input_message().command_id
    question = about(command_id)
    script.on(ResolutionRequested(question), SendMessage(question))
    rest = script.closes_on(report(command_id, sequence=0), CloseCode.MESSAGE_INVALID, "back")
    assert rest == [AbandonCommands((command_id,))]


def test_journal_position_follows_the_messages(script: LinkScript) -> None:
    script.bring_up(sequence=7)
    assert script.link.journal.sequence == 8
    command = script.sent()
    script.on(ack(command.command_id, sequence=9), SettleCommand(command.command_id, COMPLETED))
    assert script.link.journal.sequence == 9
