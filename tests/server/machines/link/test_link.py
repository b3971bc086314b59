"""The link as scripts: event, expected effects, event, expected effects."""

import pytest

from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    HeartbeatAck,
    NewToken,
    Ready,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
    ScreenStart,
)
from server.machines.link.events import (
    AbandonCommands,
    AdmitMachine,
    CloseRequested,
    ConnectionLost,
    DesktopIsNow,
    Event,
    FrameReceived,
    FramesCounted,
    LinkReady,
    LinkUp,
    MachineAdmitted,
    MarkRequested,
    MessageReceived,
    QuestionAsked,
    ResolutionRequested,
    SendMessage,
    SettleCommand,
    TimePassed,
    TokenWanted,
    UnreadableReceived,
)
from server.machines.link.frame_budget import A_SECOND, BURST
from server.machines.link.greeting import ADMISSION_SECONDS, GREETING_SECONDS
from server.machines.link.questions.screen import LivePictureArrived, LiveScreenEnded
from tests.links import (
    COMPLETED,
    DESKTOP_CHANGED,
    MARK,
    SERVER_TIME,
    WELCOME,
    LinkScript,
    about,
    ack,
    heartbeat,
    hello,
    input_message,
    report,
    submitted,
)
from tests.pictures import frames_of, header, picture


def test_link_is_up_once_the_journal_has_a_mark_of_it(script: LinkScript) -> None:
    script.on(MessageReceived(hello()), AdmitMachine(hello()))
    script.on(MachineAdmitted(), WELCOME)
    script.on(MessageReceived(Ready()), LinkReady())
    # Nothing may count the journal's number up before what it leaves unknown is stored.
    script.later(GREETING_SECONDS - 1)
    script.on(TimePassed())
    script.on(MarkRequested(), heartbeat(1))
    assert not script.link.is_up
    script.on(MessageReceived(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK)), LinkUp())
    assert script.link.is_up
    assert script.link.journal.sequence == 1


def test_mark_is_asked_for_once_and_only_of_who_is_ready(script: LinkScript) -> None:
    script.on(MarkRequested())
    script.bring_up()
    script.on(MarkRequested())


def test_second_ready_closes_the_link(up: LinkScript) -> None:
    event = MessageReceived(Ready())
    assert up.closes_on(event, CloseCode.MESSAGE_INVALID, "ready once, after welcome") == []


@pytest.mark.parametrize("steps", [0, 1, 2], ids=["not ready", "not judged", "not marked"])
def test_link_that_does_not_come_up_is_closed(script: LinkScript, steps: int) -> None:
    script.on(MessageReceived(hello()), AdmitMachine(hello()))
    script.on(MachineAdmitted(), WELCOME)
    for event in (MessageReceived(Ready()), MarkRequested())[:steps]:
        assert script.link.handle(event)
    script.later(GREETING_SECONDS)
    assert script.closes_on(TimePassed(), CloseCode.GREETING_MISSED) == []


def test_link_is_greeted_from_its_hello_to_its_end(script: LinkScript) -> None:
    assert not script.link.is_greeted
    script.bring_up()
    assert script.link.is_greeted
    script.link.handle(CloseRequested(CloseCode.SERVER_STOPPING, "stopping"))
    assert not script.link.is_greeted


def test_desktop_may_change_at_any_time_after_welcome(script: LinkScript) -> None:
    script.bring_up()
    script.on(MessageReceived(DESKTOP_CHANGED), DesktopIsNow(DESKTOP_CHANGED))


def test_desktop_cannot_change_before_welcome(script: LinkScript) -> None:
    script.link.handle(MessageReceived(hello()))
    changed = MessageReceived(DESKTOP_CHANGED)
    assert script.closes_on(changed, CloseCode.MESSAGE_INVALID, "no place here") == []


@pytest.mark.parametrize(
    "event",
    [
        ack(input_message().command_id),
        report(input_message().command_id),
        MessageReceived(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK)),
    ],
)
def test_anything_before_hello_closes_the_link(script: LinkScript, event: Event) -> None:
    assert script.closes_on(event, CloseCode.MESSAGE_INVALID, "say hello once, first") == []


def test_message_while_the_hello_is_being_recorded_closes_the_link(script: LinkScript) -> None:
    script.on(MessageReceived(hello()), AdmitMachine(hello()))
    event = MessageReceived(HeartbeatAck(sequence=1, journal_sequence=1, mark=MARK))
    assert script.closes_on(event, CloseCode.MESSAGE_INVALID, "after welcome") == []
    script.on(MachineAdmitted())
    assert not script.link.is_up


def test_second_hello_closes_the_link(up: LinkScript) -> None:
    event = MessageReceived(hello())
    assert up.closes_on(event, CloseCode.MESSAGE_INVALID, "hello") == []


def test_admission_before_any_hello_does_nothing(script: LinkScript) -> None:
    script.on(MachineAdmitted())
    assert not script.link.is_up


def test_client_that_does_not_greet_is_closed(script: LinkScript) -> None:
    script.later(GREETING_SECONDS - 0.1)
    script.on(TimePassed())
    script.later(0.1)
    assert script.closes_on(TimePassed(), CloseCode.GREETING_MISSED, "10 s") == []


def test_admission_that_takes_too_long_closes_the_link(script: LinkScript) -> None:
    script.later(GREETING_SECONDS - 1)
    script.on(MessageReceived(hello()), AdmitMachine(hello()))
    # Its turn may come late, when all machines of a server come back at once.
    script.later(ADMISSION_SECONDS - 1)
    script.on(TimePassed())
    script.later(1)
    script.closes_on(TimePassed(), CloseCode.GREETING_MISSED)
    script.on(MachineAdmitted())


def test_client_that_waited_for_its_turn_still_has_its_own_time(script: LinkScript) -> None:
    script.on(MessageReceived(hello()), AdmitMachine(hello()))
    script.later(ADMISSION_SECONDS - 1)
    script.on(TimePassed())
    script.on(MachineAdmitted(), WELCOME)
    script.later(GREETING_SECONDS - 1)
    script.on(TimePassed())


def test_unreadable_message_closes_the_link_with_its_reason(up: LinkScript) -> None:
    event = UnreadableReceived("not a message: type: missing")
    assert up.closes_on(event, CloseCode.MESSAGE_INVALID, "type: missing") == []


def test_replaced_link_abandons_what_it_had_sent_and_asked(up: LinkScript) -> None:
    command, asked = input_message(), input_message().command_id
    up.on(submitted(command), SendMessage(command))
    question = about(asked)
    up.on(ResolutionRequested(question), SendMessage(question))
    event = CloseRequested(CloseCode.TAKEN_OVER, "a newer one took over")
    (abandoned,) = up.closes_on(event, CloseCode.TAKEN_OVER, "took over")
    assert isinstance(abandoned, AbandonCommands)
    assert set(abandoned.command_ids) == {command.command_id, asked}


def test_closing_link_ignores_everything_but_its_end(up: LinkScript) -> None:
    command = up.sent()
    up.closes_on(CloseRequested(CloseCode.SERVER_STOPPING, "stopping"), CloseCode.SERVER_STOPPING)
    assert not up.link.is_up
    for event in (
        ack(command.command_id),
        MessageReceived(hello()),
        MachineAdmitted(),
        UnreadableReceived("noise"),
        CloseRequested(CloseCode.TAKEN_OVER, "again"),
    ):
        up.on(event)
    up.later(100)
    up.on(TimePassed())
    up.on(ConnectionLost())


def test_lost_connection_abandons_what_is_unanswered(up: LinkScript) -> None:
    command = up.sent()
    up.on(ConnectionLost(), AbandonCommands((command.command_id,)))
    assert not up.link.is_up
    up.on(ack(command.command_id))
    up.on(TimePassed())
    up.on(ConnectionLost())


def test_lost_connection_with_nothing_open_abandons_nothing(up: LinkScript) -> None:
    up.on(ConnectionLost())


def test_pictures_go_their_way_and_get_credit(up: LinkScript) -> None:
    asked = ScreenStart(stream=1, quality=70, rate=10, server_time=SERVER_TIME)
    up.on(QuestionAsked(asked), SendMessage(asked))
    credit, arrived = up.link.handle(FrameReceived(frames_of(header())[0]))
    assert credit == SendMessage(ScreenCredit(received=len(picture()), server_time=SERVER_TIME))
    assert isinstance(arrived, LivePictureArrived)
    failed = ScreenFailed(stream=1, reason="gone")
    up.on(MessageReceived(failed), LiveScreenEnded("gone"))


def test_picture_before_the_link_is_up_closes_it(script: LinkScript) -> None:
    script.closes_on(FrameReceived(frames_of(header())[0]), CloseCode.MESSAGE_INVALID, "no place")


def test_what_is_wrong_with_a_picture_is_the_closing_reason(up: LinkScript) -> None:
    up.closes_on(
        FrameReceived(frames_of(header())[0]), CloseCode.MESSAGE_INVALID, "nobody asked for"
    )


def test_answer_about_the_screen_to_no_question_closes_the_link(up: LinkScript) -> None:
    answer = RequestFailed(request=1, reason="why not")
    up.closes_on(MessageReceived(answer), CloseCode.MESSAGE_INVALID, "nobody has made")


def test_frames_that_nobody_asked_for_close_the_link_when_they_are_too_many(
    up: LinkScript,
) -> None:
    for _ in range(BURST):
        up.on(FramesCounted(1))
    up.later(1.0)
    for _ in range(A_SECOND):
        up.on(FramesCounted(1))
    up.closes_on(FramesCounted(1), CloseCode.OVERFLOW, str(BURST), str(A_SECOND))
    up.on(FramesCounted(1))


def test_answers_to_what_was_asked_are_no_flood(up: LinkScript) -> None:
    for number in range(3 * BURST):
        command = up.sent()
        up.on(
            ack(command.command_id, sequence=2 + number),
            SettleCommand(command.command_id, COMPLETED),
        )
        up.on(FramesCounted(1))


def test_answers_to_many_questions_may_come_all_at_once(up: LinkScript) -> None:
    commands = [input_message() for _ in range(3 * BURST)]
    up.link.commands.limit = len(commands)
    for command in commands:
        up.on(submitted(command), SendMessage(command))
    for number, command in enumerate(commands):
        up.on(
            ack(command.command_id, sequence=2 + number),
            SettleCommand(command.command_id, COMPLETED),
        )
        up.on(FramesCounted(1))
    for command in commands:
        question = about(command.command_id)
        up.on(ResolutionRequested(question), SendMessage(question))
    for command in commands:
        said = report(command.command_id, sequence=10 * BURST)
        up.on(said, SettleCommand(command.command_id, COMPLETED))
        up.on(FramesCounted(1))


def test_frames_full_of_a_picture_count_as_none(up: LinkScript) -> None:
    for _ in range(3 * BURST):
        up.on(FramesCounted(-1))
        up.on(FramesCounted(1))


def test_new_token_is_wanted_of_a_machine_whose_link_is_up(up: LinkScript) -> None:
    (wanted,) = up.link.handle(TokenWanted("fhj_c"))
    assert isinstance(wanted, SendMessage)
    assert isinstance(wanted.message, NewToken)
    assert wanted.message.code == "fhj_c"
    assert "fhj_c" not in repr(wanted)
