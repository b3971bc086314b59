"""The server's end of a link: a state machine without I/O.

The caller feeds every event in the order in which it happens and performs all effects that come
back, in their order, before it feeds the next one.  It feeds :class:`TimePassed` at least once a
second and :class:`ConnectionLost` exactly once, last; after that there are no effects any more.

``now`` is seconds of a monotonic clock; ``server_time`` in messages is milliseconds since 1970.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from uuid import UUID

from schemas.link.messages import (
    Ack,
    ClientMessage,
    CloseCode,
    DesktopChanged,
    DesktopSeen,
    HeartbeatAck,
    Hello,
    Input,
    Ready,
    Report,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
)
from server.machines.link.availability import Availability
from server.machines.link.commands import LinkCommands
from server.machines.link.desktop import DesktopState
from server.machines.link.errors import (
    LinkDownError,
    LinkUnsettledError,
    UnexpectedAnswerError,
)
from server.machines.link.events import (
    AbandonCommands,
    AdmitMachine,
    AvailabilityChanged,
    CloseConnection,
    CloseRequested,
    CommandRuns,
    ConnectionLost,
    DesktopIsNow,
    Effect,
    Event,
    FrameReceived,
    FramesCounted,
    InputSubmitted,
    LinkReady,
    LinkUp,
    MachineAdmitted,
    MachineEvent,
    MarkRequested,
    MessageReceived,
    PauseRead,
    Reconciled,
    ResolutionRequested,
    ScreenAsked,
    SendMessage,
    ServerEvent,
    SettleCommand,
    TimePassed,
    UnreadableReceived,
)
from server.machines.link.frame_budget import A_SECOND, BURST, FrameBudget
from server.machines.link.greeting import LinkTerms, NoCommonProtocolError, common_protocol
from server.machines.link.heartbeats import Heartbeats
from server.machines.link.journal import JournalHeard
from server.machines.link.pictures import PictureError
from server.machines.link.screen import ScreenLink

GREETING_SECONDS = 10.0
"""For the machine client to say what is next, until the link is up."""

ADMISSION_SECONDS = 60.0
"""For the server to admit it.  Many machines that come back at once wait for their turns, and one
that was sent away meanwhile would only come again and wait anew."""


class _State(Enum):
    AWAITING_HELLO = auto()
    ADMITTING = auto()
    WELCOMED = auto()
    READY = auto()
    MARKING = auto()
    RECONCILING = auto()
    LIVE = auto()
    CLOSING = auto()
    LOST = auto()


_UP = (_State.RECONCILING, _State.LIVE)
_GREETED = (_State.WELCOMED, _State.READY, _State.MARKING, *_UP)


@dataclass
class Link:
    """One link, from its socket's opening to its end.

    It is up once the journal has its mark: then inputs may be claimed, and the machine is asked
    what became of what earlier links had sent it.  It is live when all of that is reconciled: then
    inputs may be submitted, unless the machine is paused or its desktop takes none.  An answer to
    what is not among ``commands`` closes the link, as does one that another contradicts: a client
    that says such things cannot be believed in the rest either.

    ``protocol`` is the newest version that both sides speak, and 0 until the hello has come, as is
    ``availability`` not there before.
    """

    link_id: UUID
    machine_id: str
    terms: LinkTerms
    clock: Callable[[], float]
    server_time: Callable[[], int]
    protocol: int = 0
    _state: _State = _State.AWAITING_HELLO
    _last_change_at: float = field(init=False)
    availability: Availability = field(init=False)
    commands: LinkCommands = field(init=False)
    heartbeats: Heartbeats = field(init=False)
    journal: JournalHeard = field(default_factory=JournalHeard)
    _screen: ScreenLink = field(init=False)
    _budget: FrameBudget = field(init=False)

    def __post_init__(self) -> None:
        self._last_change_at = self.clock()
        self.commands = LinkCommands(self.terms.unanswered_limit, self.clock)
        self.heartbeats = Heartbeats(self.clock, self.server_time)
        self._screen = ScreenLink(self.terms.largest_picture, self.server_time)
        self._budget = FrameBudget(self.clock)

    @property
    def is_up(self) -> bool:
        """Whether inputs may be claimed."""
        return self._state in _UP

    @property
    def is_live(self) -> bool:
        """Whether what earlier links left open is reconciled, so that inputs may be submitted."""
        return self._state is _State.LIVE

    def reserve(self) -> None:
        """Hold a slot for an input that will be submitted; ``commands.free`` gives it back.

        Raises a SubmissionRefusedError where no input is taken now.
        """
        self._check_inputs_are_taken()
        self.commands.reserve()

    @property
    def is_greeted(self) -> bool:
        """Whether the hello has come, and the link is not over yet."""
        return self.protocol > 0 and not self.is_over

    @property
    def takeover_code(self) -> CloseCode:
        """How to close this link for a newer one of the same machine.

        A client whose hello has not come yet may speak protocol 2: it is not to end for good.
        """
        return CloseCode.REPLACED if self.protocol == 1 else CloseCode.TAKEN_OVER

    @property
    def is_over(self) -> bool:
        """Whether the link is closing or closed."""
        return self._state in (_State.CLOSING, _State.LOST)

    def handle(self, event: Event) -> list[Effect]:
        """Take one event and return what must be done about it.

        Raises a SubmissionRefusedError for an InputSubmitted that is not allowed now.
        """
        if isinstance(event, ConnectionLost):
            return self._lost()
        if self.is_over:
            if isinstance(event, InputSubmitted):
                raise LinkDownError
            return []
        if isinstance(event, ServerEvent):
            return self._decided(event)
        try:
            return self._happened(event)
        except (UnexpectedAnswerError, PictureError) as error:
            return self._close(CloseCode.MESSAGE_INVALID, str(error))

    def _happened(self, event: MachineEvent) -> list[Effect]:
        """Something came from the machine client, or did not come in time."""
        match event:
            case MessageReceived(message):
                return self._received(message)
            case FramesCounted(frames):
                return self._counted(frames)
            case FrameReceived(frame):
                return self._picture_received(frame)
            case TimePassed():
                return self._time_passed()
            case UnreadableReceived(reason):
                return self._close(CloseCode.MESSAGE_INVALID, reason)

    def _decided(self, event: ServerEvent) -> list[Effect]:
        """The server wants something of this link."""
        match event:
            case InputSubmitted(message, answer_by):
                return self._submitted(message, answer_by)
            case ResolutionRequested(message):
                self.commands.ask(message.command_id)
                return [SendMessage(message)]
            case ScreenAsked(question):
                self._screen.asked(question)
                return [SendMessage(question)]
            case PauseRead(since):
                self.availability.paused_since = since
                return []
            case MachineAdmitted():
                return self._admitted()
            case MarkRequested():
                return self._mark()
            case Reconciled():
                return self._reconciled()
            case CloseRequested(code, reason):
                return self._close(code, reason)

    def _counted(self, frames: int) -> list[Effect]:
        if frames < 0:
            self._budget.earn(-frames)
        elif not self._budget.spend(frames):
            return self._close(
                CloseCode.OVERFLOW,
                f"it sent more than the {BURST} frames at once, or {A_SECOND} a second, that a "
                "machine client may send unasked",
            )
        return []

    def _check_inputs_are_taken(self) -> None:
        """Raise a SubmissionRefusedError where the machine takes no input, whichever it is."""
        if not self.is_up:
            raise LinkDownError
        self.availability.check()

    def _submitted(self, message: Input, answer_by: float) -> list[Effect]:
        self._check_inputs_are_taken()
        if not self.is_live:
            raise LinkUnsettledError
        self.commands.submit(message.command_id, answer_by)
        return [SendMessage(message)]

    def _reconciled(self) -> list[Effect]:
        if self._state is _State.RECONCILING:
            self._state = _State.LIVE
        return []

    def _received(self, message: ClientMessage) -> list[Effect]:
        if message.since > self.protocol and not isinstance(message, Hello):
            return self._misplaced(message)
        match message:
            case Ack() if self.is_up:
                return self._acknowledged(message)
            case Report() if self.is_up:
                return self._reported(message)
            case ScreenFailed() | RequestFailed() | DesktopSeen() if self.is_up:
                return [*self._screen.answered(message)]
            case DesktopChanged() if self._state in _GREETED:
                desktop = self.availability.desktop.changed_to(message, self.server_time())
                self.availability.desktop = desktop
                return [DesktopIsNow(message)]
            case HeartbeatAck() if self._state in (_State.MARKING, *_UP):
                return self._heartbeat_acknowledged(message)
            case Hello() if self._state is _State.AWAITING_HELLO:
                return self._greeted(message)
            case Ready() if self._state is _State.WELCOMED:
                self._enter(_State.READY)
                return [LinkReady()]
            case _:
                return self._misplaced(message)

    def _misplaced(self, message: ClientMessage) -> list[Effect]:
        return self._close(
            CloseCode.MESSAGE_INVALID,
            f"a message of type {message.type} has no place here: say hello once, first, "
            "and ready once, after welcome",
        )

    def _greeted(self, hello: Hello) -> list[Effect]:
        try:
            self.protocol = common_protocol(hello)
        except NoCommonProtocolError as error:
            return self._close(CloseCode.PROTOCOL_UNSUPPORTED, str(error))
        self._enter(_State.ADMITTING)
        self.journal.greeted(hello.journal.sequence)
        self.availability = Availability(DesktopState.greeted(hello, self.server_time()))
        return [AdmitMachine(hello)]

    def _admitted(self) -> list[Effect]:
        if self._state is not _State.ADMITTING:
            return []
        self._enter(_State.WELCOMED)
        welcome = self.terms.welcome(
            self.protocol, self.link_id, self.machine_id, self.server_time()
        )
        return [SendMessage(welcome)]

    def _mark(self) -> list[Effect]:
        """The first heartbeat, whose answer has a number that no earlier copy can have."""
        if self._state is not _State.READY:
            return []
        self._enter(_State.MARKING)
        return [self._heartbeat()]

    def _acknowledged(self, ack: Ack) -> list[Effect]:
        self.commands.check_acknowledged(ack.command_id)
        self._journal_moved(ack.journal_sequence)
        self._budget.earn(1)
        outcome = self.commands.acknowledge(ack.command_id, ack.outcome)
        return [SettleCommand(ack.command_id, outcome), *self._perhaps_recovered()]

    def _reported(self, report: Report) -> list[Effect]:
        self.commands.check_reported(report.command_id)
        self._journal_moved(report.journal_sequence)
        self._budget.earn(1)
        outcome = self.commands.report(report.command_id, report.outcome)
        if outcome is None:
            return [CommandRuns(report.command_id)]
        return [SettleCommand(report.command_id, outcome), *self._perhaps_recovered()]

    def _perhaps_recovered(self) -> list[Effect]:
        if self.availability.stuck_since is None or self.commands.overdue:
            return []
        self.availability.recovered(self.server_time())
        return [AvailabilityChanged()]

    def _picture_received(self, frame: bytes) -> list[Effect]:
        if not self.is_up:
            return self._close(CloseCode.MESSAGE_INVALID, "a picture has no place here")
        return [
            SendMessage(effect) if isinstance(effect, ScreenCredit) else effect
            for effect in self._screen.frame_received(frame)
        ]

    def _journal_moved(self, sequence: int) -> None:
        self.journal.moved(sequence, commands=self.commands.asked, heartbeats=self.heartbeats.sent)

    def _heartbeat(self) -> Effect:
        self._last_change_at = self.clock()
        return SendMessage(self.heartbeats.next())

    def _heartbeat_acknowledged(self, ack: HeartbeatAck) -> list[Effect]:
        self._journal_moved(ack.journal_sequence)
        self.heartbeats.acknowledged(ack)
        self.journal.marked(ack.mark)
        if self.is_up:
            return []
        self._enter(_State.RECONCILING)
        return [LinkUp()]

    def _time_passed(self) -> list[Effect]:
        waited = self.clock() - self._last_change_at
        if not self.is_up:
            longest = GREETING_SECONDS
            if self._state is _State.ADMITTING:
                longest = ADMISSION_SECONDS
            if waited < longest:
                return []
            return self._close(CloseCode.GREETING_MISSED, f"no link was made within {longest:g} s")
        if waited >= self.terms.heartbeat_seconds and self.heartbeats.is_awaited:
            return self._close(
                CloseCode.HEARTBEAT_MISSED,
                f"no answer to a heartbeat within {self.terms.heartbeat_seconds:g} s",
            )
        effects: list[Effect] = []
        if waited >= self.terms.heartbeat_seconds:
            effects.append(self._heartbeat())
        if self.commands.find_overdue():
            self.availability.stuck_since = self.server_time()
            effects.append(AvailabilityChanged())
        return effects

    def _close(self, code: CloseCode, reason: str) -> list[Effect]:
        self._enter(_State.CLOSING)
        return [CloseConnection(code, reason), *self._abandon()]

    def _lost(self) -> list[Effect]:
        self._enter(_State.LOST)
        return self._abandon()

    def _abandon(self) -> list[Effect]:
        commands = self.commands.abandon()
        return [AbandonCommands(commands)] if commands else []

    def _enter(self, state: _State) -> None:
        self._state = state
        self._last_change_at = self.clock()
