"""Helpers for tests of the link: scripts for its state machine, and messages that fit together."""

import itertools
from uuid import UUID

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Completed, Outcome, Point
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    MAX_MESSAGE_BYTES,
    PROTOCOLS,
    Ack,
    Capability,
    DesktopChanged,
    Display,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Input,
    JournalPosition,
    Limits,
    Ready,
    Released,
    Report,
    Resolve,
    Welcome,
)
from server.machines.link.events import (
    AdmitMachine,
    CloseConnection,
    Effect,
    Event,
    InputSubmitted,
    LinkReady,
    LinkUp,
    MachineAdmitted,
    MarkRequested,
    MessageReceived,
    Reconciled,
    SendMessage,
)
from server.machines.link.greeting import LinkTerms
from server.machines.link.link import Link
from server.machines.socket import LinkSocket

LINK_ID = UUID("00000000-0000-4000-8000-00000000000c")
JOURNAL_ID = UUID("00000000-0000-4000-8000-00000000000d")
MARK = UUID("00000000-0000-4000-8000-00000000000e")
BOOT_ID = "boot-1"
SERVER_TIME = 1_700_000_000_000
HEARTBEAT_SECONDS = 20.0
COMPLETED = Completed(duration_ms=1.5, pointer=Point(x=3, y=4))

_NUMBERS = itertools.count(1)


SWITCHED_OFF = "not in this test"
"""Why a machine shows no screen, and has no clipboard, that its owner has switched off."""

NO_ELEMENTS = Capability(available=False, reason="there is no accessibility bus")
NO_CLIPBOARD = Capability(available=False, reason=SWITCHED_OFF, switched_off=True)


def hello(
    *,
    protocols: list[int] | None = None,
    journal_id: UUID = JOURNAL_ID,
    sequence: int = 0,
    boot_id: str = BOOT_ID,
    no_input: str | None = None,
    no_screen: str | None = SWITCHED_OFF,
    yields: bool = False,
    released: Released | None = None,
    host: str | None = None,
) -> Hello:
    """What a machine client says first; ``no_…`` are why it cannot inject, or show."""
    return Hello(
        protocols=[*PROTOCOLS] if protocols is None else protocols,
        client_version="1.2.3",
        desktop="x11",
        platform="Linux of the test",
        boot_id=boot_id,
        host=host,
        displays=[Display(x=0, y=0, width=1280, height=800)],
        input=Capability(available=no_input is None, reason=no_input),
        screen=Capability(
            available=no_screen is None,
            reason=no_screen,
            switched_off=no_screen == SWITCHED_OFF,
        ),
        journal=JournalPosition(id=journal_id, sequence=sequence),
        yields=yields,
        released=released,
        clipboard_read=NO_CLIPBOARD,
        clipboard_write=NO_CLIPBOARD,
        elements=NO_ELEMENTS,
    )


def input_message(command_id: UUID | None = None) -> Input:
    """A command to move the pointer, with an id of its own."""
    return Input(
        link_id=LINK_ID,
        command_id=command_id or UUID(int=next(_NUMBERS)),
        operation=Operation.MOUSE_MOVE,
        body={"x": 3, "y": 4},
        fingerprint="",
        expires_at=SERVER_TIME + 30_000,
        server_time=SERVER_TIME,
    )


def submitted(message: Input, answer_by: float = 1e9) -> InputSubmitted:
    """A command is to be sent, and answered at a time of the link's clock that is far away."""
    return InputSubmitted(message, answer_by)


def about(command_id: UUID, *, mark: UUID | None = None, fingerprint: str = "f") -> Resolve:
    """The question what became of a command."""
    return Resolve(
        command_id=command_id, mark=mark, fingerprint=fingerprint, server_time=SERVER_TIME
    )


def ack(command_id: UUID, outcome: Outcome = COMPLETED, sequence: int = 1) -> MessageReceived:
    """The machine acknowledged a command."""
    return MessageReceived(Ack(command_id=command_id, outcome=outcome, journal_sequence=sequence))


def report(
    command_id: UUID, outcome: Outcome | None = COMPLETED, sequence: int = 1
) -> MessageReceived:
    """The machine said what became of a command; None is that it still runs."""
    return MessageReceived(
        Report(command_id=command_id, outcome=outcome, journal_sequence=sequence)
    )


def heartbeat(sequence: int) -> SendMessage:
    """The effect that asks whether anybody is there, numbered from 1."""
    return SendMessage(Heartbeat(sequence=sequence, server_time=SERVER_TIME))


WELCOME = SendMessage(
    Welcome(
        protocol=1,
        link_id=LINK_ID,
        machine_id="desk-1",
        server_time=SERVER_TIME,
        heartbeat_seconds=HEARTBEAT_SECONDS,
        limits=Limits(unanswered_inputs=64, message_bytes=MAX_MESSAGE_BYTES),
        reconnect_spread_seconds=0.0,
    )
)


DESKTOP_CHANGED = DesktopChanged(
    displays=[],
    input=Capability(available=False, reason="the display is gone"),
    screen=Capability(available=False, reason="the display is gone"),
    elements=NO_ELEMENTS,
)


def let_time_pass(link: LinkSocket, seconds: float) -> None:
    """Have a link notice soon that nothing has happened on it for so many seconds more.

    So a busy host has all of these for what comes next, which none of them pass.
    """
    link._link._last_change_at -= seconds
    link.schedule()


class LinkScript:
    """A link that is fed by hand: an event, its expected effects, an event, its effects."""

    def __init__(self) -> None:
        self._now = 1000.0
        self.link = Link(
            link_id=LINK_ID,
            machine_id="desk-1",
            terms=LinkTerms(unanswered_limit=64, heartbeat_seconds=HEARTBEAT_SECONDS),
            clock=lambda: self._now,
            server_time=lambda: SERVER_TIME,
        )

    def on(self, event: Event, *effects: Effect) -> None:
        """Feed an event; exactly these effects must come back."""
        assert self.link.handle(event) == [*effects]

    def sent(self) -> Input:
        """A command that is sent to the machine as soon as it is submitted."""
        command = input_message()
        self.on(submitted(command), SendMessage(command))
        return command

    def closes_on(self, event: Event, code: CloseCode, *words: str) -> list[Effect]:
        """Feed an event that must close the link with this code and a reason that has the words.

        Returns the effects that follow the closing.
        """
        first, *rest = self.link.handle(event)
        assert isinstance(first, CloseConnection)
        assert first.code is code
        for word in words:
            assert word in first.reason
        return rest

    def later(self, seconds: float) -> None:
        """Let time go by."""
        self._now += seconds

    def bring_up(self, sequence: int = 0, greeting: Hello | None = None) -> None:
        """Greet and admit: afterwards inputs may be submitted."""
        greeting = greeting or hello(sequence=sequence)
        self.on(MessageReceived(greeting), AdmitMachine(greeting))
        self.on(MachineAdmitted(), WELCOME)
        self.on(MessageReceived(Ready()), LinkReady())
        self.on(MarkRequested(), heartbeat(1))
        mark = HeartbeatAck(sequence=1, journal_sequence=sequence + 1, mark=MARK)
        self.on(MessageReceived(mark), LinkUp())
        self.on(Reconciled())
