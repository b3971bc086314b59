"""The machine client's end of a link: a state machine without I/O.

The caller feeds every event in the order in which it happens and performs all effects that come
back, in their order.  One session lives as long as the program; links come and go under it.  It
feeds :class:`TimePassed` about ten times a second while commands are queued.

A command is begun by at most one effect, and only when the one before it has ended.
"""

from collections import deque
from collections.abc import Callable, Sequence
from uuid import UUID

from machine_client.link import events
from machine_client.link.clipboard import (
    ClipboardAnswers,
    ClipboardQuestion,
    InputTexts,
    TextBrokenError,
)
from machine_client.link.reported_desktop import ReportedDesktop
from machine_client.link.server_clock import ServerClock
from machine_client.link.waiting import WaitingInputs
from machine_client.screen.sender import (
    DesktopQueried,
    ElementsListed,
    FrameOffered,
    LookEnded,
    OrderFailed,
    PictureCaptured,
    PictureKept,
    ScreenQuestion,
    ScreenResult,
    ScreenSender,
)
from machine_client.work import orders
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Expired, Outcome
from schemas.link import messages
from schemas.link.clipboard_messages import ClipboardNext, ClipboardQuery, InputText
from schemas.link.close_codes import CloseCode

MAX_HEARTBEATS = 16
MAX_INTERRUPTS = 16
MAX_LOOK_UPS = 10_000
"""How many questions may wait for the journal, whichever link they came on."""


class Session:
    """What a machine client owes and does, across its links.

    ``clock`` is seconds of :func:`machine_client.system.clock.boottime_seconds`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._server_clock = ServerClock()
        self._screen = ScreenSender()
        self._clipboard = ClipboardAnswers()
        self._texts = InputTexts()
        self._queue = WaitingInputs()
        self._running: UUID | None = None
        self._runs_several = False
        self._owed: set[UUID] = set()
        self._asked: set[UUID] = set()
        self._looking_up = 0
        self._has_failed = False
        self._journal_sequence = 0
        self._greeted_with = 0
        self._offered: Sequence[int] = ()
        self._heartbeats: deque[int] = deque()
        self._interrupts: set[UUID] = set()
        self._desktop = ReportedDesktop()
        self._open = False
        self.welcome: messages.Welcome | None = None

    @property
    def has_queued(self) -> bool:
        """Whether commands wait for their turn."""
        return bool(self._queue)

    def handle(self, event: events.Event) -> list[events.Effect]:
        """Take one event and return what must be done about it."""
        try:
            effects = self._happened(event)
        except TextBrokenError as error:
            return [events.CloseLink(CloseCode.MESSAGE_INVALID, str(error))]
        if self._clipboard.are_open:
            effects += self._clipboard.begin(self._unfinished)
        return effects

    @property
    def _unfinished(self) -> set[UUID]:
        """The commands that have come and not ended."""
        waiting = {command.command_id for command in self._queue}
        return waiting if self._running is None else waiting | {self._running}

    def _happened(self, event: events.Event) -> list[events.Effect]:
        match event:
            case events.MessageReceived(message):
                return self._received(message) if self._open else []
            case orders.CommandEnded():
                return self._ended(event)
            case orders.CommandLookedUp():
                return self._looked_up(event)
            case orders.JournalMarked():
                return self._marked(event)
            case orders.JournalFailed():
                return self._failed(event)
            case orders.CommandsInterrupted(request):
                return self._interrupted(request)
            case events.DesktopObserved(desktop):
                self._desktop.changed_to(desktop)
                return self._tell_desktop()
            case (
                PictureCaptured()
                | DesktopQueried()
                | LookEnded()
                | ElementsListed()
                | OrderFailed()
                | PictureKept()
                | FrameOffered()
                | orders.ClipboardTaken()
            ):
                return self._taken(event)
            case events.TimePassed():
                return self._expire()
            case events.LinkOpened(hello):
                return self._greet(hello)
            case events.LinkLost():
                return self._lost()

    def _greet(self, hello: messages.Hello) -> list[events.Effect]:
        self._open, self._has_failed = True, False
        # A new link may lead to another server, with another clock.
        self._server_clock = ServerClock()
        self._screen = ScreenSender()
        self._greeted_with = hello.journal.sequence
        self._offered = hello.protocols
        self._journal_sequence = max(self._journal_sequence, hello.journal.sequence)
        return [events.SendMessage(self._desktop.greeting(hello))]

    def _received(self, message: messages.ServerMessage) -> list[events.Effect]:
        self._server_clock.heard(message.server_time, self._clock())
        match message:
            case messages.Input():
                return self._queued(message)
            case messages.Heartbeat(sequence=sequence):
                if len(self._heartbeats) >= MAX_HEARTBEATS:
                    reason = f"more than {MAX_HEARTBEATS} heartbeats wait for the journal"
                    return [events.CloseLink(CloseCode.OVERFLOW, reason)]
                self._heartbeats.append(sequence)
                return [orders.MarkJournal()]
            case messages.Resolve():
                return self._resolve(message)
            case messages.Interrupt(request=request):
                return self._interrupt(request)
            case messages.Welcome():
                return self._welcomed(message)
            case messages.NewToken(code=code):
                return [events.ReplaceToken(code)]
            case _:
                return self._questioned(message)

    def _questioned(self, question: ScreenQuestion | ClipboardQuestion) -> list[events.Effect]:
        if self.welcome is None:
            reason = f"{question.type} came before welcome"
            return [events.CloseLink(CloseCode.MESSAGE_INVALID, reason)]
        match question:
            case ClipboardQuery():
                failed = self._clipboard.asked(question, self._unfinished)
                return [events.SendMessage(each) for each in failed]
            case ClipboardNext():
                return [events.SendMessage(each) for each in self._clipboard.go_on(question)]
            case InputText():
                if question.link_id == self.welcome.link_id:
                    self._texts.add(question)
                return []
            case _:
                return [*self._screen.asked(question)]

    def _taken(self, taken: ScreenResult | orders.ClipboardTaken) -> list[events.Effect]:
        if isinstance(taken, orders.ClipboardTaken):
            return [events.SendMessage(message) for message in self._clipboard.taken(taken)]
        if self.welcome is None:
            return []  # Whoever asked is gone with the link.
        captured_at = 0
        if (
            isinstance(taken, PictureCaptured | PictureKept | FrameOffered)
            and taken.picture is not None
        ):
            captured_at = self._server_clock.server(taken.picture.captured_at)
        largest = self.welcome.limits.picture_bytes
        return [*self._screen.taken(taken, captured_at, largest)]

    def _welcomed(self, welcome: messages.Welcome) -> list[events.Effect]:
        if welcome.protocol not in self._offered:
            return [
                events.CloseLink(
                    CloseCode.PROTOCOL_UNSUPPORTED,
                    f"the server chose protocol {welcome.protocol}, which this machine client "
                    "did not offer",
                )
            ]
        self.welcome = welcome
        self._desktop.welcomed()
        return [events.SendMessage(messages.Ready()), *self._tell_desktop()]

    def _tell_desktop(self) -> list[events.Effect]:
        if self.welcome is None:
            return []
        news = self._desktop.news()
        return [] if news is None else [events.SendMessage(news)]

    def _marked(self, marked: orders.JournalMarked) -> list[events.Effect]:
        """Answer a heartbeat, with a number and an id that no earlier copy of the journal has."""
        self._journal_sequence = max(self._journal_sequence, marked.journal_sequence)
        # A mark that an earlier link asked for may be in this one's hello already.
        if not self._heartbeats or marked.journal_sequence <= self._greeted_with:
            return []
        return [
            events.SendMessage(
                messages.HeartbeatAck(
                    sequence=self._heartbeats.popleft(),
                    journal_sequence=self._journal_sequence,
                    mark=marked.mark,
                )
            )
        ]

    def _queued(self, command: messages.Input) -> list[events.Effect]:
        if self.welcome is None:
            return [events.CloseLink(CloseCode.MESSAGE_INVALID, "an input came before welcome")]
        if command.link_id != self.welcome.link_id:
            return []  # Said on another link, and repeated by something between: nobody waits.
        command = self._texts.whole(command)
        if not self._queue.has_room_for(command):
            return [events.CloseLink(CloseCode.OVERFLOW, "more inputs wait than there is room for")]
        is_here = command.command_id == self._running or command.command_id in self._owed
        self._owed.add(command.command_id)
        if is_here:
            return []  # Said twice, carried out once: its end answers both.
        self._queue.append(command)
        return self._begin_next()

    def _begin_next(self) -> list[events.Effect]:
        """Begin the oldest command whose time has not passed, unless one is running."""
        effects: list[events.Effect] = []
        while self._running is None and self._queue:
            command = self._queue.take_first()
            if self._is_late(command):
                effects += self._expired(command)
            else:
                self._running = command.command_id
                self._runs_several = command.operation is Operation.ACTIONS
                begin_by = self._server_clock.local(command.expires_at)
                effects.append(orders.BeginCommand(command, begin_by))
        return effects

    def _is_late(self, command: messages.Input) -> bool:
        return self._clock() > self._server_clock.local(command.expires_at)

    def _expire(self) -> list[events.Effect]:
        """Give up what has waited too long behind a running command, without its turn coming."""
        late = [command for command in self._queue if self._is_late(command)]
        effects: list[events.Effect] = []
        for command in late:
            self._queue.take(command)
            effects += self._expired(command)
        return effects

    def _interrupt(self, request: UUID) -> list[events.Effect]:
        """Nothing goes on of what came until now: the machine is somebody else's, or paused."""
        if len(self._interrupts) >= MAX_INTERRUPTS:
            reason = f"more than {MAX_INTERRUPTS} interrupts wait for the running input"
            return [events.CloseLink(CloseCode.OVERFLOW, reason)]
        self._interrupts.add(request)
        waiting = self._queue.take_all()
        effects = [effect for command in waiting for effect in self._expired(command)]
        return [*effects, orders.InterruptCommands(request)]

    def _interrupted(self, request: UUID) -> list[events.Effect]:
        if request not in self._interrupts:
            return []  # Whoever asked is gone with the link.
        self._interrupts.discard(request)
        return [events.SendMessage(messages.Interrupted(request=request))]

    def _expired(self, command: messages.Input) -> list[events.Effect]:
        """What a key can repeat may be in the journal since long ago, and then did happen."""
        if command.fingerprint:
            return [orders.ExpireCommand(command)]
        return self._acknowledge(command.command_id, Expired())

    def _ended(self, ended: orders.CommandEnded) -> list[events.Effect]:
        self._journal_sequence = max(self._journal_sequence, ended.journal_sequence)
        if ended.command_id == self._running:
            self._running = None
        return [*self._acknowledge(ended.command_id, ended.outcome), *self._begin_next()]

    def _acknowledge(self, command_id: UUID, outcome: Outcome) -> list[events.Effect]:
        """Answer a command on the link that asked for it; a link that is gone hears nothing."""
        if command_id not in self._owed:
            return []
        self._owed.discard(command_id)
        return [
            events.SendMessage(
                messages.Ack(
                    command_id=command_id,
                    outcome=outcome,
                    journal_sequence=self._journal_sequence,
                )
            )
        ]

    def _resolve(self, question: messages.Resolve) -> list[events.Effect]:
        command_id = question.command_id
        if command_id == self._running:
            self._owed.add(command_id)
            return self._report(command_id, None, self._journal_sequence)
        # What is asked about must not begin any more, even if it waits for its turn.
        for command in self._queue:
            if command.command_id == command_id:
                self._queue.take(command)
                self._owed.discard(command_id)
                break
        if self._looking_up >= MAX_LOOK_UPS:
            return [
                events.CloseLink(CloseCode.OVERFLOW, f"more than {MAX_LOOK_UPS} questions wait")
            ]
        self._looking_up += 1
        self._asked.add(command_id)
        return [orders.LookUpCommand(question)]

    def _looked_up(self, found: orders.CommandLookedUp) -> list[events.Effect]:
        """Answer on the link that asked; where that is gone, another may not have asked yet."""
        self._looking_up -= 1
        if found.command_id not in self._asked:
            return []
        self._asked.discard(found.command_id)
        return self._report(found.command_id, found.outcome, found.journal_sequence)

    def _failed(self, failed: orders.JournalFailed) -> list[events.Effect]:
        """End the link: without its journal this machine can promise nothing, and says why.

        The server answers what comes meanwhile with "unavailable"; the next link finds out whether
        the journal works again.
        """
        self._looking_up -= failed.command_id is not None
        if not self._open or self._has_failed:
            return []
        self._has_failed = True
        return [events.CloseLink(CloseCode.JOURNAL_FAILED, failed.reason)]

    def _report(
        self, command_id: UUID, outcome: Outcome | None, sequence: int
    ) -> list[events.Effect]:
        self._journal_sequence = max(self._journal_sequence, sequence)
        return [
            events.SendMessage(
                messages.Report(
                    command_id=command_id,
                    outcome=outcome,
                    journal_sequence=self._journal_sequence,
                )
            )
        ]

    def _lost(self) -> list[events.Effect]:
        """Forget what had not begun: whoever asks later is told that it never will.

        Several actions end between two of them: whoever decided them sees no more what they do.
        """
        self._open = False
        self.welcome = None
        self._heartbeats.clear()
        self._interrupts.clear()
        self._clipboard = ClipboardAnswers()
        self._texts.clear()
        self._queue.take_all()
        self._owed.clear()
        self._asked.clear()
        release: events.Effect = orders.ReleaseHeld()
        if self._running is not None and self._runs_several:
            release = orders.InterruptCommands(self._running)
        return [release, *self._screen.over()]
