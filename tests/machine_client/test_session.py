"""Scripts of what happens to a session, and what it must decide."""

from uuid import UUID, uuid4

import pytest

from machine_client import session as session_module
from machine_client.session import (
    BeginCommand,
    CloseLink,
    CommandEnded,
    CommandLookedUp,
    Effect,
    Event,
    ExpireCommand,
    JournalMarked,
    LinkLost,
    LinkOpened,
    LookUpCommand,
    MarkJournal,
    MessageReceived,
    ReleaseHeld,
    SendMessage,
    Session,
    TimePassed,
)
from schemas.inputs import Operation
from schemas.outcomes import Completed, Expired, NotCarriedOut, Outcome, Point
from schemas.wire import (
    Ack,
    Capability,
    CloseCode,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Input,
    JournalPosition,
    Limits,
    Ready,
    Report,
    Resolve,
    Welcome,
)

SERVER_EPOCH = 1_700_000_000_000
"""What the server's clock says (ms) when the local clock says 0 s."""

JOURNAL = UUID("00000000-0000-4000-8000-000000000001")
DONE = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
A, B, C = (UUID(int=number) for number in (0xA, 0xB, 0xC))


class Clock:
    """A clock that a script moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Script:
    """Feeds a session events and checks the effects of each."""

    def __init__(self, *, linked: bool = True) -> None:
        self.clock = Clock()
        self.session = Session(self.clock)
        if linked:
            self.link()

    def link(self, journal_sequence: int = 0) -> None:
        greeting = hello(journal_sequence)
        self.on(LinkOpened(greeting), SendMessage(greeting))
        self.on(MessageReceived(self.welcome()), MarkJournal())
        marked = journal_sequence + 1
        self.on(JournalMarked(marked), SendMessage(Ready(journal_sequence=marked)))

    def on(self, event: Event, *expected: Effect) -> None:
        assert self.session.handle(event) == list(expected)

    def server_time(self) -> int:
        return SERVER_EPOCH + round(self.clock.now * 1000)

    def welcome(self, protocol: int = 1) -> Welcome:
        return Welcome(
            protocol=protocol,
            link_id=uuid4(),
            machine_id="desk",
            server_time=self.server_time(),
            heartbeat_seconds=20,
            limits=Limits(unanswered_inputs=64, message_bytes=1000),
        )

    def input(
        self,
        command_id: UUID,
        *,
        within: float = 10.0,
        delay: float = 0.0,
        fingerprint: str = "",
    ) -> Input:
        """A command that must begin ``within`` seconds; sent ``delay`` seconds ago."""
        sent_at = self.server_time() - round(delay * 1000)
        return Input(
            command_id=command_id,
            operation=Operation.MOUSE_MOVE,
            body={"x": 1, "y": 2},
            fingerprint=fingerprint,
            expires_at=sent_at + round(within * 1000),
            server_time=sent_at,
        )

    def begins(self, command: Input) -> BeginCommand:
        """The effect that begins a command, whose clock was heard without delay."""
        return BeginCommand(command, (command.expires_at - SERVER_EPOCH) / 1000)

    def resolve(self, command_id: UUID) -> MessageReceived:
        return MessageReceived(Resolve(command_id=command_id, server_time=self.server_time()))


def hello(journal_sequence: int = 0) -> Hello:
    able = Capability(available=True)
    return Hello(
        protocols=[1],
        client_version="1",
        platform="test",
        boot_id="boot",
        displays=[],
        input=able,
        screen=able,
        journal=JournalPosition(id=JOURNAL, sequence=journal_sequence),
    )


def ack(command_id: UUID, outcome: Outcome, sequence: int = 1) -> SendMessage:
    return SendMessage(Ack(command_id=command_id, outcome=outcome, journal_sequence=sequence))


def report(command_id: UUID, outcome: Outcome | None, sequence: int = 1) -> SendMessage:
    return SendMessage(Report(command_id=command_id, outcome=outcome, journal_sequence=sequence))


def test_hello_comes_first_and_ready_once_the_journal_has_a_mark_of_the_link() -> None:
    script = Script(linked=False)
    greeting = hello(7)
    script.on(LinkOpened(greeting), SendMessage(greeting))
    welcome = script.welcome()
    script.on(MessageReceived(welcome), MarkJournal())
    assert script.session.welcome == welcome
    # A mark that was asked for by an earlier link may be in hello already.
    script.on(JournalMarked(7))
    script.on(JournalMarked(8), SendMessage(Ready(journal_sequence=8)))
    script.on(JournalMarked(9))


def test_mark_that_comes_after_its_link_is_nobodys() -> None:
    script = Script(linked=False)
    script.session.handle(LinkOpened(hello()))
    script.session.handle(MessageReceived(script.welcome()))
    script.on(LinkLost(), ReleaseHeld())
    script.on(JournalMarked(1))


def test_every_heartbeat_marks_the_journal_and_tells_its_number() -> None:
    script = Script()
    for sequence, marked in ((1, 1), (2, 2), (3, 3)):
        script.on(
            MessageReceived(Heartbeat(sequence=sequence, server_time=script.server_time())),
            SendMessage(HeartbeatAck(sequence=sequence, journal_sequence=marked)),
            MarkJournal(),
        )
        script.on(JournalMarked(marked + 1))


def test_command_that_is_said_twice_runs_once_and_is_answered_once() -> None:
    script = Script()
    first, second = script.input(A), script.input(B)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(first))
    script.on(MessageReceived(second))
    script.on(CommandEnded(A, DONE, 3), ack(A, DONE, 3), script.begins(second))
    script.on(CommandEnded(B, DONE, 5), ack(B, DONE, 5))


def test_running_command_that_a_new_link_says_again_is_answered_when_it_ends() -> None:
    script = Script()
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    script.on(LinkLost(), ReleaseHeld())
    script.link(1)
    script.on(MessageReceived(command))
    script.on(CommandEnded(A, DONE, 4), ack(A, DONE, 4))


def test_late_command_that_a_key_can_repeat_is_answered_from_the_journal() -> None:
    script = Script()
    running, late = script.input(A), script.input(B, within=1, fingerprint="f")
    script.on(MessageReceived(running), script.begins(running))
    script.on(MessageReceived(late))
    script.clock.now = 5.0
    script.on(TimePassed(), ExpireCommand(late))
    script.on(CommandEnded(B, Expired(), 1), ack(B, Expired()))
    # What expired beside it has not ended the running one.
    third = script.input(C)
    script.on(MessageReceived(third))
    script.on(CommandEnded(A, DONE, 3), ack(A, DONE, 3), script.begins(third))


def test_protocol_that_was_not_offered_closes_the_link() -> None:
    script = Script(linked=False)
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.welcome(protocol=2)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.PROTOCOL_UNSUPPORTED
    assert "protocol 2" in effect.reason
    assert script.session.welcome is None


def test_input_before_welcome_closes_the_link_and_is_not_begun() -> None:
    script = Script(linked=False)
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.input(A)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.MESSAGE_INVALID
    assert not script.session.has_queued


def test_welcome_of_an_earlier_link_does_not_count_on_the_next() -> None:
    script = Script()
    script.on(LinkLost(), ReleaseHeld())
    script.session.handle(LinkOpened(hello()))
    (effect,) = script.session.handle(MessageReceived(script.input(A)))
    assert isinstance(effect, CloseLink)


def test_messages_of_a_lost_link_have_no_effect() -> None:
    script = Script()
    script.on(LinkLost(), ReleaseHeld())
    script.on(MessageReceived(script.input(A)))
    script.on(script.resolve(A))
    script.on(MessageReceived(Heartbeat(sequence=1, server_time=script.server_time())))


def test_commands_are_begun_one_at_a_time_in_order_and_acknowledged() -> None:
    script = Script()
    first, second, third = (script.input(command_id) for command_id in (A, B, C))
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(third))
    assert script.session.has_queued
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), script.begins(second))
    script.on(CommandEnded(B, DONE, 4), ack(B, DONE, 4), script.begins(third))
    assert not script.session.has_queued
    script.on(CommandEnded(C, DONE, 6), ack(C, DONE, 6))
    fourth = script.input(A)
    script.on(MessageReceived(fourth), script.begins(fourth))


def test_heartbeat_is_answered_at_once_even_while_a_command_runs() -> None:
    script = Script()
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    heartbeat = Heartbeat(sequence=7, server_time=script.server_time())
    script.on(
        MessageReceived(heartbeat),
        SendMessage(HeartbeatAck(sequence=7, journal_sequence=1)),
        MarkJournal(),
    )


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


def test_command_whose_turn_comes_late_is_not_begun_even_without_a_tick() -> None:
    script = Script()
    first, second, third = script.input(A), script.input(B, within=1), script.input(C, within=9)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(third))
    script.clock.now = 2.0
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), ack(B, Expired(), 2), script.begins(third))


def test_command_that_left_the_server_expired_is_not_begun() -> None:
    script = Script()
    script.on(MessageReceived(script.input(A, within=-0.001)), ack(A, Expired()))


def test_expiry_is_by_the_servers_clock_whatever_the_local_one_says() -> None:
    script = Script(linked=False)
    script.clock.now = 86_400.0
    script.link()
    command = script.input(A, within=5)
    script.on(MessageReceived(command), BeginCommand(command, 86_405.0))


def test_command_that_stalled_on_the_link_past_its_expiry_is_not_begun() -> None:
    script = Script()
    script.clock.now = 30.0
    script.on(MessageReceived(script.input(A, within=10, delay=20)), ack(A, Expired()))


def test_command_that_stalled_on_the_link_keeps_its_own_expiry() -> None:
    script = Script()
    script.clock.now = 30.0
    command = script.input(A, within=25, delay=20)
    script.on(MessageReceived(command), BeginCommand(command, 35.0))


def test_after_a_sleep_nothing_late_begins() -> None:
    script = Script()
    first, second = script.input(A), script.input(B)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.clock.now += 3600.0
    third = script.input(C, within=10, delay=3599.0)
    script.on(MessageReceived(third))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2), ack(B, Expired(), 2), ack(C, Expired(), 2))


def test_clock_of_an_earlier_link_is_forgotten_with_it() -> None:
    script = Script()
    script.on(LinkLost(), ReleaseHeld())
    greeting = hello()
    script.on(LinkOpened(greeting), SendMessage(greeting))
    behind = SERVER_EPOCH - 60_000
    welcome = script.welcome().model_copy(update={"server_time": behind})
    script.on(MessageReceived(welcome), MarkJournal())
    script.on(JournalMarked(2), SendMessage(Ready(journal_sequence=2)))
    command = script.input(A).model_copy(
        update={"server_time": behind, "expires_at": behind + 5_000}
    )
    script.on(MessageReceived(command), BeginCommand(command, 5.0))


def test_id_that_comes_again_later_is_acknowledged_again() -> None:
    script = Script()
    command = script.input(A)
    for _ in range(2):
        script.on(MessageReceived(command), script.begins(command))
        script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_running_command_that_is_asked_about_is_reported_as_running() -> None:
    script = Script()
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    script.on(script.resolve(A), report(A, None))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_queued_command_that_is_asked_about_never_begins() -> None:
    script = Script()
    first, second, third = (script.input(command_id) for command_id in (A, B, C))
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(third))
    script.on(script.resolve(B), LookUpCommand(B))
    script.on(CommandLookedUp(B, NotCarriedOut(), 3), report(B, NotCarriedOut(), 3))
    script.on(CommandEnded(A, DONE, 4), ack(A, DONE, 4), script.begins(third))


def test_unknown_command_that_is_asked_about_is_looked_up_and_reported() -> None:
    script = Script()
    script.on(script.resolve(A), LookUpCommand(A))
    script.on(CommandLookedUp(A, DONE, 9), report(A, DONE, 9))


def test_lost_link_drops_the_queue_and_releases_what_is_held() -> None:
    script = Script()
    first, second = script.input(A), script.input(B)
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(LinkLost(), ReleaseHeld())
    assert not script.session.has_queued
    script.on(CommandEnded(A, DONE, 2))
    script.link(2)
    script.on(TimePassed())


def test_command_of_an_earlier_link_is_not_acknowledged_on_a_later_one() -> None:
    script = Script()
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(CommandEnded(A, DONE, 2))


def test_command_of_an_earlier_link_that_was_asked_about_is_acknowledged() -> None:
    script = Script()
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    script.on(script.resolve(A), report(A, None))
    script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_new_command_waits_for_the_running_one_of_an_earlier_link() -> None:
    script = Script()
    old = script.input(A)
    script.on(MessageReceived(old), script.begins(old))
    script.on(LinkLost(), ReleaseHeld())
    script.link()
    new = script.input(B)
    script.on(MessageReceived(new))
    script.on(CommandEnded(A, DONE, 2), script.begins(new))


def test_look_up_that_ends_after_the_link_is_told_to_nobody() -> None:
    script = Script()
    script.on(script.resolve(A), LookUpCommand(A))
    script.on(LinkLost(), ReleaseHeld())
    script.on(CommandLookedUp(A, NotCarriedOut(), 3))


def test_journal_sequence_never_goes_back_on_the_wire() -> None:
    script = Script(linked=False)
    script.link(journal_sequence=50)
    command = script.input(A)
    script.on(MessageReceived(command), script.begins(command))
    script.on(CommandEnded(A, DONE, 40), ack(A, DONE, 51))
    script.on(script.resolve(B), LookUpCommand(B))
    script.on(CommandLookedUp(B, NotCarriedOut(), 51), report(B, NotCarriedOut(), 51))
    script.on(MessageReceived(script.input(C, within=-1)), ack(C, Expired(), 51))


def test_more_commands_than_can_wait_close_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "MAX_QUEUED", 2)
    script = Script()
    running = script.input(A)
    script.on(MessageReceived(running), script.begins(running))
    for _ in range(2):
        script.on(MessageReceived(script.input(uuid4())))
    (effect,) = script.session.handle(MessageReceived(script.input(C)))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.OVERFLOW
