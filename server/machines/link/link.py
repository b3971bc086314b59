"""The server's end of a link: a state machine without I/O.

The caller feeds every event in the order in which it happens and performs all effects that come
back, in their order, before it feeds the next one.  It feeds :class:`TimePassed` within a second of
every ``due_at`` and :class:`ConnectionLost` exactly once, last; after that there are no effects any
more.

``now`` is seconds of a monotonic clock; ``server_time`` in messages is milliseconds since 1970.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from schemas.inputs.bodies import Operation
from schemas.link import messages
from schemas.link.close_codes import CloseCode
from server.machines.link import events
from server.machines.link.availability import Availability
from server.machines.link.commands import LinkCommands
from server.machines.link.desktop import DesktopState
from server.machines.link.errors import (
    FrameFloodError,
    LinkDownError,
    LinkUnsettledError,
    UnexpectedAnswerError,
)
from server.machines.link.frame_budget import FrameBudget
from server.machines.link.greeting import (
    ADMISSION_SECONDS,
    GREETING_SECONDS,
    LinkTerms,
    NoCommonProtocolError,
    common_protocol,
)
from server.machines.link.heartbeats import Heartbeats
from server.machines.link.interrupts import Interrupts
from server.machines.link.journal import JournalHeard
from server.machines.link.questions.clipboard_ability import ClipboardAbility
from server.machines.link.questions.long_texts import with_text
from server.machines.link.questions.pictures import PictureError
from server.machines.link.questions.questions import Answer, Arrival, LinkQuestions, Sent
from server.machines.link.restrictions import Restrictions
from server.machines.link.states import GREETED, UP, State


@dataclass(slots=True)
class Link:
    """One link, from its socket's opening to its end.

    It is up once the journal has its mark: then inputs may be claimed, and the machine is asked
    what became of what earlier links had sent it.  It is live when all of that is reconciled: then
    inputs may be submitted, as ``availability`` allows.  An answer to what is not among
    ``commands`` closes the link, as does one that another contradicts: a client that says such
    things cannot be believed in the rest either.

    ``protocol`` is the newest version that both sides speak, and 0 until the hello has come, as is
    ``availability`` not there before.
    """

    link_id: UUID
    machine_id: str
    terms: LinkTerms
    clock: Callable[[], float]
    server_time: Callable[[], int]
    protocol: int = 0
    _state: State = State.AWAITING_HELLO
    _last_change_at: float = field(init=False)
    availability: Availability = field(init=False)
    commands: LinkCommands = field(init=False)
    heartbeats: Heartbeats = field(init=False)
    journal: JournalHeard = field(default_factory=JournalHeard)
    _asked: LinkQuestions | None = None
    interrupts: Interrupts = field(init=False)
    _budget: FrameBudget = field(init=False)

    def __post_init__(self) -> None:
        self._last_change_at = self.clock()
        self.commands = LinkCommands(self.terms.unanswered_limit, self.clock)
        self.heartbeats = Heartbeats(self.clock, self.server_time)
        self.interrupts = Interrupts(self.server_time)
        self._budget = FrameBudget(self.clock)

    @property
    def is_up(self) -> bool:
        """Whether inputs may be claimed."""
        return self._state in UP

    @property
    def is_live(self) -> bool:
        """Whether what earlier links left open is reconciled, so that inputs may be submitted."""
        return self._state is State.LIVE

    def reserve(self, lease_hash: str | None = None) -> None:
        """Hold a slot for an input that will be submitted; ``commands.free`` gives it back.

        Raises a SubmissionRefusedError where no input is taken now with this lease.
        """
        self._check_inputs_are_taken(lease_hash)
        self.commands.reserve()

    @property
    def is_greeted(self) -> bool:
        """Whether the hello has come, and the link is not over yet."""
        return self.protocol > 0 and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the link is closing or closed."""
        return self._state in (State.CLOSING, State.LOST)

    @property
    def due_at(self) -> float:
        """When time next means something, by ``clock``, if nothing happens before."""
        if self.is_over:
            return math.inf
        if not self.is_up:
            return self._last_change_at + self._longest_greeting
        heartbeat_at = self._last_change_at + self.terms.heartbeat_seconds
        return min(heartbeat_at, self.commands.overdue_at)

    def handle(self, event: events.Event) -> list[events.Effect]:
        """Take one event and return what must be done about it.

        Raises a SubmissionRefusedError for an InputSubmitted that is not allowed now.
        """
        if isinstance(event, events.ConnectionLost):
            return self._lost()
        if self.is_over:
            if isinstance(event, events.InputSubmitted):
                raise LinkDownError
            return []
        if isinstance(event, events.ServerEvent):
            return self._decided(event)
        try:
            return self._happened(event)
        except (UnexpectedAnswerError, PictureError) as error:
            return self._close(CloseCode.MESSAGE_INVALID, str(error))
        except FrameFloodError as error:
            return self._close(CloseCode.OVERFLOW, str(error))

    def _happened(self, event: events.MachineEvent) -> list[events.Effect]:
        """Something came from the machine client, or did not come in time."""
        match event:
            case events.MessageReceived(message):
                return self._received(message)
            case events.FramesCounted(frames):
                self._budget.count(frames)
                return []
            case events.FrameReceived(frame):
                return self._picture_received(frame)
            case events.TimePassed():
                return self._time_passed()
            case events.UnreadableReceived(reason):
                return self._close(CloseCode.MESSAGE_INVALID, reason)

    def _decided(self, event: events.ServerEvent) -> list[events.Effect]:
        """The server wants something of this link."""
        match event:
            case events.InputSubmitted(message, answer_by, lease_hash):
                return self._submitted(message, answer_by, lease_hash)
            case events.ResolutionRequested(message):
                self.commands.ask(message.command_id)
                return [events.SendMessage(message)]
            case events.QuestionAsked(question):
                self._questions.asked(question)
                return [events.SendMessage(question)]
            case events.RestrictionsRead(restrictions):
                return self._restricted(restrictions)
            case events.MachineAdmitted():
                return self._admitted()
            case events.MarkRequested():
                return self._mark()
            case events.Reconciled():
                if self._state is State.RECONCILING:
                    self._state = State.LIVE
                return []
            case events.StopAnnounced():
                return self._interrupt() if self.is_up and self.commands.run_several else []
            case events.TokenWanted(code):
                wanted = messages.NewToken(code=code, server_time=self.server_time())
                return [events.SendMessage(wanted)] if self.is_up else []
            case events.CloseRequested(code, reason):
                return self._close(code, reason)

    @property
    def _questions(self) -> LinkQuestions:
        """What is asked of screen and clipboard: nearly always nothing."""
        if self._asked is None:
            self._asked = LinkQuestions(self.terms.largest_picture, self.server_time)
        return self._asked

    def _told(self, told: list[Sent | Arrival]) -> list[events.Effect]:
        return [events.SendMessage(each) if isinstance(each, Sent) else each for each in told]

    def _restricted(self, restrictions: Restrictions) -> list[events.Effect]:
        """Where control changes hands, or a pause begins, nothing goes on of what came before."""
        return self._interrupt() if self.availability.restrict(restrictions) else []

    def _interrupt(self) -> list[events.Effect]:
        self._budget.earn(1)
        return [events.SendMessage(self.interrupts.next())]

    def _check_inputs_are_taken(self, lease_hash: str | None) -> None:
        """Raise a SubmissionRefusedError where the machine takes no input of this sender."""
        if not self.is_up:
            raise LinkDownError
        self.availability.check(lease_hash)

    def _submitted(
        self, message: messages.Input, answer_by: float, lease_hash: str | None
    ) -> list[events.Effect]:
        self._check_inputs_are_taken(lease_hash)
        if not self.is_live:
            raise LinkUnsettledError
        self.availability.check_input(message)
        is_several = message.operation is Operation.ACTIONS
        self.commands.submit(message.command_id, answer_by, is_several=is_several)
        if is_several:
            self._questions.sent(message.command_id, message.body["actions"])
        return [events.SendMessage(each) for each in with_text(message)]

    def _received(self, message: messages.ClientMessage) -> list[events.Effect]:
        if message.since > self.protocol and not isinstance(message, messages.Hello):
            return self._misplaced(message)
        match message:
            case messages.Ack() if self.is_up:
                return self._acknowledged(message)
            case messages.Report() if self.is_up:
                return self._reported(message)
            case _ if self.is_up and isinstance(message, Answer):
                return self._told(self._questions.answered(message))
            case messages.Interrupted(request=request) if self.is_up:
                self.interrupts.confirmed(request)
                return []
            case messages.DesktopChanged() if self._state in GREETED:
                desktop = self.availability.desktop.changed_to(message, self.server_time())
                self.availability.desktop = desktop
                return [events.DesktopIsNow(message)]
            case messages.HeartbeatAck() if self._state in (State.MARKING, *UP):
                return self._heartbeat_acknowledged(message)
            case messages.Hello() if self._state is State.AWAITING_HELLO:
                return self._greeted(message)
            case messages.Ready() if self._state is State.WELCOMED:
                self._enter(State.READY)
                return [events.LinkReady()]
            case _:
                return self._misplaced(message)

    def _misplaced(self, message: messages.ClientMessage) -> list[events.Effect]:
        return self._close(
            CloseCode.MESSAGE_INVALID,
            f"a message of type {message.type} has no place here: say hello once, first, "
            "and ready once, after welcome",
        )

    def _greeted(self, hello: messages.Hello) -> list[events.Effect]:
        try:
            self.protocol = common_protocol(hello)
        except NoCommonProtocolError as error:
            return self._close(CloseCode.PROTOCOL_UNSUPPORTED, str(error))
        self._enter(State.ADMITTING)
        self.journal.greeted(hello.journal.sequence)
        self.availability = Availability(
            DesktopState.greeted(hello, self.server_time()),
            ClipboardAbility.greeted(hello),
        )
        return [events.AdmitMachine(hello)]

    def _admitted(self) -> list[events.Effect]:
        if self._state is not State.ADMITTING:
            return []
        self._enter(State.WELCOMED)
        welcome = self.terms.welcome(
            self.protocol, self.link_id, self.machine_id, self.server_time()
        )
        return [events.SendMessage(welcome)]

    def _mark(self) -> list[events.Effect]:
        """The first heartbeat, whose answer has a number that no earlier copy can have."""
        if self._state is not State.READY:
            return []
        self._enter(State.MARKING)
        return [self._heartbeat()]

    def _acknowledged(self, ack: messages.Ack) -> list[events.Effect]:
        self.commands.check_acknowledged(ack.command_id)
        self._journal_moved(ack.journal_sequence)
        self._budget.earn(1)
        outcome = self.commands.acknowledge(ack.command_id, ack.outcome)
        self._forget(ack.command_id)
        return [events.SettleCommand(ack.command_id, outcome), *self._perhaps_recovered()]

    def _reported(self, report: messages.Report) -> list[events.Effect]:
        self.commands.check_reported(report.command_id)
        self._journal_moved(report.journal_sequence)
        self._budget.earn(1)
        outcome = self.commands.report(report.command_id, report.outcome)
        if outcome is None:
            return [events.CommandRuns(report.command_id)]
        self._forget(report.command_id)
        return [events.SettleCommand(report.command_id, outcome), *self._perhaps_recovered()]

    def _forget(self, command_id: UUID) -> None:
        """Nothing more is asked about a command that is over."""
        if self._asked is not None:
            self._asked.ended(command_id)

    def _perhaps_recovered(self) -> list[events.Effect]:
        if self.availability.stuck_since is None or self.commands.overdue:
            return []
        self.availability.recovered(self.server_time())
        return [events.AvailabilityChanged()]

    def _picture_received(self, frame: bytes) -> list[events.Effect]:
        if not self.is_up:
            return self._close(CloseCode.MESSAGE_INVALID, "a picture has no place here")
        return self._told(self._questions.frame_received(frame))

    def _journal_moved(self, sequence: int) -> None:
        self.journal.moved(sequence, commands=self.commands.asked, heartbeats=self.heartbeats.sent)

    def _heartbeat(self) -> events.Effect:
        self._last_change_at = self.clock()
        return events.SendMessage(self.heartbeats.next())

    def _heartbeat_acknowledged(self, ack: messages.HeartbeatAck) -> list[events.Effect]:
        self._journal_moved(ack.journal_sequence)
        self.heartbeats.acknowledged(ack)
        self.journal.marked(ack.mark)
        if self.is_up:
            return []
        self._enter(State.RECONCILING)
        return [events.LinkUp()]

    @property
    def _longest_greeting(self) -> float:
        return ADMISSION_SECONDS if self._state is State.ADMITTING else GREETING_SECONDS

    def _time_passed(self) -> list[events.Effect]:
        waited = self.clock() - self._last_change_at
        if not self.is_up:
            longest = self._longest_greeting
            if waited < longest:
                return []
            return self._close(CloseCode.GREETING_MISSED, f"no link was made within {longest:g} s")
        if waited >= self.terms.heartbeat_seconds and self.heartbeats.is_awaited:
            return self._close(
                CloseCode.HEARTBEAT_MISSED,
                f"no answer to a heartbeat within {self.terms.heartbeat_seconds:g} s",
            )
        effects: list[events.Effect] = []
        if waited >= self.terms.heartbeat_seconds:
            effects.append(self._heartbeat())
        if self.commands.find_overdue():
            self.availability.stuck_since = self.server_time()
            effects.append(events.AvailabilityChanged())
        return effects

    def _close(self, code: CloseCode, reason: str) -> list[events.Effect]:
        self._enter(State.CLOSING)
        return [events.CloseConnection(code, reason), *self._abandon()]

    def _lost(self) -> list[events.Effect]:
        self._enter(State.LOST)
        return self._abandon()

    def _abandon(self) -> list[events.Effect]:
        commands = self.commands.abandon()
        return [events.AbandonCommands(commands)] if commands else []

    def _enter(self, state: State) -> None:
        self._state = state
        self._last_change_at = self.clock()
