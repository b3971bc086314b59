"""The server's end of a link: a state machine without I/O.

The caller feeds every event in the order in which it happens and performs all effects that come
back, in their order, before it feeds the next one.  It feeds :class:`TimePassed` at least once a
second and :class:`ConnectionLost` exactly once, last; after that there are no effects any more.

``now`` is seconds of a monotonic clock; ``server_time`` in messages is milliseconds since 1970.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from uuid import UUID

from schemas.inputs.outcomes import Expired, NotCarriedOut, Outcome
from schemas.link.messages import (
    MAX_MESSAGE_BYTES,
    PROTOCOLS,
    Ack,
    ClientMessage,
    CloseCode,
    DesktopChanged,
    DesktopSeen,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Limits,
    Ready,
    Report,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
    Welcome,
)
from schemas.link.picture_frames import MAX_PICTURE_BYTES
from server.machines.link.events import (
    AbandonCommands,
    AdmitMachine,
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
    MarkRequested,
    MessageReceived,
    ResolutionRequested,
    ScreenAsked,
    SendMessage,
    SettleCommand,
    TimePassed,
    UnreadableReceived,
)
from server.machines.link.frame_budget import A_SECOND, BURST, FrameBudget
from server.machines.link.pictures import PictureError
from server.machines.link.screen import ScreenAnswer, ScreenLink

GREETING_SECONDS = 10.0
"""For the machine client to say what is next, until the link is up."""

ADMISSION_SECONDS = 60.0
"""For the server to admit it.  Many machines that come back at once wait for their turns, and one
that was sent away meanwhile would only come again and wait anew."""

MAX_ENTRIES_PER_COMMAND = 10_000
"""By how much one command may move the journal's number: a long one notes its progress."""

REMEMBERED_OUTCOMES = 1000


class _State(Enum):
    AWAITING_HELLO = auto()
    ADMITTING = auto()
    WELCOMED = auto()
    READY = auto()
    MARKING = auto()
    UP = auto()
    CLOSING = auto()
    LOST = auto()


_GREETED = (_State.WELCOMED, _State.READY, _State.MARKING, _State.UP)


@dataclass
class Link:
    """One link, from its socket's opening to its end.

    ``unanswered`` are the commands that the machine has not acknowledged yet, ``resolving`` those
    that it was asked about.  An answer to anything else closes the link, as does one that another
    contradicts: a client that says such things cannot be believed in the rest either.

    ``protocol`` is the newest version that both sides speak, and 0 until the hello has come.
    ``journal_sequence`` is the highest number of the machine's journal that was heard, and
    ``journal_mark`` the id of its last mark; None for a client whose marks have no ids.
    """

    link_id: UUID
    machine_id: str
    unanswered_limit: int
    heartbeat_seconds: float
    clock: Callable[[], float]
    server_time: Callable[[], int]
    largest_picture: int = MAX_PICTURE_BYTES
    reconnect_spread_seconds: float = 0.0
    protocol: int = 0
    unanswered: set[UUID] = field(default_factory=set)
    resolving: set[UUID] = field(default_factory=set)
    journal_sequence: int = 0
    journal_mark: UUID | None = None
    round_trip_seconds: float | None = None
    _state: _State = _State.AWAITING_HELLO
    _heartbeat_sequence: int = 0
    _heartbeat_sent_at: float | None = None
    _questions: int = 0
    _greeted_with: int = 0
    _outcomes: dict[UUID, Outcome] = field(default_factory=dict)
    _last_change_at: float = field(init=False)
    _screen: ScreenLink = field(init=False)
    _budget: FrameBudget = field(init=False)

    def __post_init__(self) -> None:
        self._last_change_at = self.clock()
        self._screen = ScreenLink(self.largest_picture, self.server_time)
        self._budget = FrameBudget(self.clock)

    @property
    def is_up(self) -> bool:
        """Whether inputs may be submitted."""
        return self._state is _State.UP

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
        """Take one event and return what must be done about it."""
        if self._state is _State.LOST:
            return []
        match event:
            case ConnectionLost():
                return self._lost()
            case _ if self._state is _State.CLOSING:
                return []
            case MessageReceived(message):
                return self._received(message)
            case FramesCounted(frames):
                return self._counted(frames)
            case InputSubmitted() | ResolutionRequested():
                return self._questioned(event)
            case TimePassed():
                return self._time_passed()
            case ScreenAsked() | FrameReceived():
                return self._about_the_screen(event)
            case MachineAdmitted():
                return self._admitted()
            case MarkRequested():
                return self._mark()
            case CloseRequested() | UnreadableReceived():
                return self._close(event.code, event.reason)

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

    def _questioned(self, event: InputSubmitted | ResolutionRequested) -> list[Effect]:
        self._questions += 1
        if isinstance(event, ResolutionRequested):
            self.resolving.add(event.message.command_id)
            return [SendMessage(event.message)]
        # Days later the same key may bring the same id with another end.
        self._outcomes.pop(event.message.command_id, None)
        self.unanswered.add(event.message.command_id)
        return [SendMessage(event.message)]

    def _received(self, message: ClientMessage) -> list[Effect]:
        if message.since > self.protocol and not isinstance(message, Hello):
            return self._misplaced(message)
        match message:
            case Ack() if self._state is _State.UP:
                return self._acknowledged(message)
            case Report() if self._state is _State.UP:
                return self._reported(message)
            case ScreenFailed() | RequestFailed() | DesktopSeen() if self._state is _State.UP:
                return self._screen_answered(message)
            case DesktopChanged() if self._state in _GREETED:
                return [DesktopIsNow(message)]
            case HeartbeatAck() if self._state in (_State.MARKING, _State.UP):
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
        common = set(PROTOCOLS).intersection(hello.protocols)
        if not common:
            newest = max(hello.protocols)
            which = "machine client" if newest < PROTOCOLS[0] else "server"
            return self._close(
                CloseCode.PROTOCOL_UNSUPPORTED,
                f"this server speaks protocol {_listed(PROTOCOLS)}, the machine client "
                f"{_listed(hello.protocols)}: the {which} is too old",
            )
        self.protocol = max(common)
        self._enter(_State.ADMITTING)
        self.journal_sequence = self._greeted_with = hello.journal.sequence
        return [AdmitMachine(hello)]

    def _admitted(self) -> list[Effect]:
        if self._state is not _State.ADMITTING:
            return []
        self._enter(_State.WELCOMED)
        return [
            SendMessage(
                Welcome(
                    protocol=self.protocol,
                    link_id=self.link_id,
                    machine_id=self.machine_id,
                    server_time=self.server_time(),
                    heartbeat_seconds=self.heartbeat_seconds,
                    limits=Limits(
                        unanswered_inputs=self.unanswered_limit,
                        message_bytes=MAX_MESSAGE_BYTES,
                        picture_bytes=self.largest_picture,
                    ),
                    reconnect_spread_seconds=(
                        self.reconnect_spread_seconds if self.protocol >= 2 else None
                    ),
                )
            )
        ]

    def _mark(self) -> list[Effect]:
        """The first heartbeat, whose answer has a number that no earlier copy can have."""
        if self._state is not _State.READY:
            return []
        self._enter(_State.MARKING)
        return [self._heartbeat()]

    def _acknowledged(self, ack: Ack) -> list[Effect]:
        if ack.command_id not in self.unanswered:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"acknowledged {ack.command_id}, which is not waiting for an acknowledgement",
            )
        if (impossible := self._journal_moved(ack.journal_sequence)) is not None:
            return impossible
        self._budget.earn(1)
        self.unanswered.remove(ack.command_id)
        # A command that was also asked about is settled by whichever answer comes first.
        return self._settle(ack.command_id, ack.outcome)

    def _reported(self, report: Report) -> list[Effect]:
        if report.command_id not in self.resolving:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"reported on {report.command_id}, which it was not asked about",
            )
        if (impossible := self._journal_moved(report.journal_sequence)) is not None:
            return impossible
        self._budget.earn(1)
        self.resolving.remove(report.command_id)
        if report.outcome is None and report.command_id not in self._outcomes:
            # Still running: its acknowledgement will follow on this link.
            self.unanswered.add(report.command_id)
            return [CommandRuns(report.command_id)]
        return self._settle(report.command_id, report.outcome)

    def _settle(self, command_id: UUID, outcome: Outcome | None) -> list[Effect]:
        first = self._outcomes.setdefault(command_id, outcome) if outcome else None
        if first is None or outcome is None or not _agree(first, outcome):
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"said of {command_id} what contradicts its earlier outcome",
            )
        if len(self._outcomes) > REMEMBERED_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        return [SettleCommand(command_id, first)]

    def _screen_answered(self, answer: ScreenAnswer) -> list[Effect]:
        try:
            return [*self._screen.answered(answer)]
        except PictureError as error:
            return self._close(CloseCode.MESSAGE_INVALID, str(error))

    def _about_the_screen(self, event: ScreenAsked | FrameReceived) -> list[Effect]:
        if isinstance(event, ScreenAsked):
            self._screen.asked(event.question)
            return [SendMessage(event.question)]
        if self._state is not _State.UP:
            return self._close(CloseCode.MESSAGE_INVALID, "a picture has no place here")
        try:
            arrived = self._screen.frame_received(event.frame)
        except PictureError as error:
            return self._close(CloseCode.MESSAGE_INVALID, str(error))
        return [
            SendMessage(effect) if isinstance(effect, ScreenCredit) else effect
            for effect in arrived
        ]

    def _journal_moved(self, sequence: int) -> list[Effect] | None:
        if sequence < self.journal_sequence:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"the journal went back from {self.journal_sequence} to {sequence}",
            )
        # One more than was asked for: what an earlier link left behind is written late.
        commands = 1 + self._questions + self._heartbeat_sequence
        if sequence > self._greeted_with + commands * MAX_ENTRIES_PER_COMMAND:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"the journal jumped from {self.journal_sequence} to {sequence}, for "
                f"{self._questions} commands",
            )
        self.journal_sequence = sequence
        return None

    def _heartbeat(self) -> Effect:
        self._heartbeat_sequence += 1
        self._heartbeat_sent_at = self._last_change_at = self.clock()
        return SendMessage(
            Heartbeat(sequence=self._heartbeat_sequence, server_time=self.server_time())
        )

    def _heartbeat_acknowledged(self, ack: HeartbeatAck) -> list[Effect]:
        if (impossible := self._journal_moved(ack.journal_sequence)) is not None:
            return impossible
        if ack.sequence != self._heartbeat_sequence or self._heartbeat_sent_at is None:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                "answered a heartbeat that was not sent, or was answered before",
            )
        self.journal_mark = ack.mark
        self.round_trip_seconds = self.clock() - self._heartbeat_sent_at
        self._heartbeat_sent_at = None
        if self._state is _State.UP:
            return []
        if ack.journal_sequence <= self._greeted_with:
            return self._close(
                CloseCode.MESSAGE_INVALID,
                f"the journal has no mark of this link: its number is {ack.journal_sequence}, "
                f"and was {self._greeted_with} in hello",
            )
        self._enter(_State.UP)
        return [LinkUp()]

    def _time_passed(self) -> list[Effect]:
        waited = self.clock() - self._last_change_at
        if self._state is not _State.UP:
            longest = GREETING_SECONDS
            if self._state is _State.ADMITTING:
                longest = ADMISSION_SECONDS
            if waited < longest:
                return []
            return self._close(CloseCode.GREETING_MISSED, f"no link was made within {longest:g} s")
        if waited < self.heartbeat_seconds:
            return []
        if self._heartbeat_sent_at is None:
            return [self._heartbeat()]
        return self._close(
            CloseCode.HEARTBEAT_MISSED,
            f"no answer to a heartbeat within {self.heartbeat_seconds:g} s",
        )

    def _close(self, code: CloseCode, reason: str) -> list[Effect]:
        self._enter(_State.CLOSING)
        return [CloseConnection(code, reason), *self._abandon()]

    def _lost(self) -> list[Effect]:
        self._enter(_State.LOST)
        return self._abandon()

    def _abandon(self) -> list[Effect]:
        commands = tuple(self.unanswered | self.resolving)
        self.unanswered.clear()
        self.resolving.clear()
        return [AbandonCommands(commands)] if commands else []

    def _enter(self, state: _State) -> None:
        self._state = state
        self._last_change_at = self.clock()


def _agree(first: Outcome, later: Outcome) -> bool:
    """Whether two answers about one command can both be true."""
    # What came too late is in no journal: asked about, it was never carried out.
    never = (Expired, NotCarriedOut)
    return first == later or (isinstance(first, never) and isinstance(later, never))


def _listed(protocols: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(protocols)))
