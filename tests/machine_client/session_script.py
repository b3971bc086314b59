"""A session's script: what happens, and what must be decided at each event."""

from typing import Any
from uuid import UUID, uuid4

from machine_client.link.events import Effect, Event, LinkOpened, MessageReceived, SendMessage
from machine_client.link.session import Session
from machine_client.work.orders import BeginCommand, LookUpCommand
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Completed, Outcome, Point
from schemas.link.messages import (
    Ack,
    Capability,
    Heartbeat,
    Hello,
    Input,
    JournalPosition,
    Limits,
    Ready,
    Report,
    Resolve,
    Welcome,
)
from tests.clock import Clock

SERVER_EPOCH = 1_700_000_000_000
"""What the server's clock says (ms) when the local clock says 0 s."""

JOURNAL = UUID("00000000-0000-4000-8000-000000000001")
DONE = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))
A, B, C = (UUID(int=number) for number in (0xA, 0xB, 0xC))
MARK = UUID(int=0xD)


class Script:
    """Feeds a session events and checks the effects of each."""

    def __init__(self, *, linked: bool = True) -> None:
        self.clock = Clock()
        self.link_id = uuid4()
        self.session = Session(self.clock)
        if linked:
            self.link()

    def link(self, journal_sequence: int = 0) -> None:
        greeting = hello(journal_sequence)
        self.link_id = uuid4()
        self.on(LinkOpened(greeting), SendMessage(greeting))
        self.on(MessageReceived(self.welcome()), SendMessage(Ready()))

    def on(self, event: Event, *expected: Effect) -> None:
        assert self.session.handle(event) == list(expected)

    def server_time(self) -> int:
        return SERVER_EPOCH + round(self.clock.now * 1000)

    def welcome(self, protocol: int = 1) -> Welcome:
        return Welcome(
            protocol=protocol,
            link_id=self.link_id,
            machine_id="desk",
            server_time=self.server_time(),
            heartbeat_seconds=20,
            limits=Limits(unanswered_inputs=64, message_bytes=1000),
            reconnect_spread_seconds=0,
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
            link_id=self.link_id,
            command_id=command_id,
            operation=Operation.MOUSE_MOVE,
            body={"x": 1, "y": 2},
            fingerprint=fingerprint,
            expires_at=sent_at + round(within * 1000),
            server_time=sent_at,
        )

    def begun(self, command_id: UUID, **options: Any) -> Input:
        """A command that has come and begins at once."""
        command = self.input(command_id, **options)
        self.on(MessageReceived(command), self.begins(command))
        return command

    def queued(self, command_id: UUID, **options: Any) -> Input:
        """A command that has come, and for which nothing is done yet."""
        command = self.input(command_id, **options)
        self.on(MessageReceived(command))
        return command

    def begins(self, command: Input) -> BeginCommand:
        """The effect that begins a command, whose clock was heard without delay."""
        return BeginCommand(command, (command.expires_at - SERVER_EPOCH) / 1000)

    def heartbeat(self, sequence: int) -> MessageReceived:
        return MessageReceived(Heartbeat(sequence=sequence, server_time=self.server_time()))

    def resolve(self, command_id: UUID, mark: UUID | None = None) -> MessageReceived:
        return MessageReceived(self._question(command_id, mark))

    def looks_up(self, command_id: UUID, mark: UUID | None = None) -> LookUpCommand:
        """The effect of `resolve` where the journal is asked."""
        return LookUpCommand(self._question(command_id, mark))

    def _question(self, command_id: UUID, mark: UUID | None) -> Resolve:
        return Resolve(
            command_id=command_id, mark=mark, fingerprint="f", server_time=self.server_time()
        )


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
        yields=False,
        clipboard_read=able,
        clipboard_write=able,
        elements=able,
        desktop="x11",
    )


def ack(command_id: UUID, outcome: Outcome, sequence: int = 0) -> SendMessage:
    return SendMessage(Ack(command_id=command_id, outcome=outcome, journal_sequence=sequence))


def report(command_id: UUID, outcome: Outcome | None, sequence: int = 0) -> SendMessage:
    return SendMessage(Report(command_id=command_id, outcome=outcome, journal_sequence=sequence))
