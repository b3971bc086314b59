"""Performs what a link's state machine decides, on a real websocket."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID, uuid4

from schemas.inputs.outcomes import Outcome
from schemas.link.close_codes import CloseCode, fitting
from schemas.link.messages import DesktopChanged, FrameJudged, Hello, Input, Resolve
from server.clock import milliseconds, seconds_until, server_time
from server.errors import StoreUnavailable
from server.machines.clipboard_reads import MachineClipboard
from server.machines.connection import Connection, LinkObserver
from server.machines.link import events
from server.machines.link.availability import Availability, DesktopTrouble
from server.machines.link.desktop import DesktopState
from server.machines.link.errors import LinkDownError
from server.machines.link.greeting import Greeting, LinkTerms
from server.machines.link.link import Link
from server.machines.link.questions.clipboard import ClipboardArrived, ClipboardRefused
from server.machines.link.questions.questions import Arrival
from server.machines.link.questions.screen import FrameArrived
from server.machines.link.restrictions import Restrictions
from server.machines.link.rivals import MOST_RIVALS, Rival
from server.machines.link_timers import LinkTimers
from server.machines.pending_outcomes import OneTimeEvent, PendingOutcomes, Question, RepeatedEvent
from server.machines.privacy import Privacy
from server.machines.screens import MachineScreen
from server.machines.websocket.frames import events_of
from server.store.machines.troubles import TAKEN_OVER
from server.tasks import Tasks

logger = logging.getLogger(__name__)


class LinkSocket:
    """One machine's live link: commands in, outcomes out.

    ``epoch`` counts the machine's links and is 0 until the machine is admitted; ``newest_epoch`` is
    the highest of which another node has told until then.  ``took_over`` is whether it replaced a
    live one, and ``rivals`` are the hosts that come with its token meanwhile.  When this side
    begins to close it, ``over_code``, ``over_since`` and ``over_reason`` say how, when and why.
    ``trouble`` is what was last seen to be wrong with its desktop.
    Times are milliseconds since 1970.  ``reading_restrictions`` is held by whoever reads whom the
    machine takes inputs from, ``watched_screen`` is the machine's screen once somebody has
    asked for it, and ``privacy`` says who may see it.
    """

    greeting: Greeting
    epoch: int = 0
    newest_epoch: int = 0
    up_since: int
    took_over: bool = False
    rivals: tuple[Rival, ...] = ()
    trouble: DesktopTrouble | None = None
    over_code: CloseCode | None = None
    over_since: int = 0
    over_reason: str = ""

    def __init__(
        self,
        connection: Connection,
        *,
        organization_id: UUID,
        machine_id: str,
        token_id: UUID,
        token_ends: datetime | None = None,
        observer: "LinkObserver[LinkSocket]",
        background: Tasks,
        timers: LinkTimers,
        terms: LinkTerms,
    ) -> None:
        self.organization_id = organization_id
        self.machine_id = machine_id
        self.token_id = token_id
        self._token_ends = None if token_ends is None else milliseconds(token_ends)
        self.up_since = server_time()
        self._connection = connection
        self._observer = observer
        self._background = background
        self._timers = timers
        self.reading_restrictions = asyncio.Lock()
        self.privacy = Privacy()
        self._outcomes = PendingOutcomes()
        self._ready_or_over, self._up_or_over = OneTimeEvent(), OneTimeEvent()
        self._live_or_over = OneTimeEvent()
        self._interrupted_or_over = RepeatedEvent()
        self._clock = asyncio.get_running_loop().time
        self._link = Link(
            link_id=uuid4(),
            machine_id=machine_id,
            terms=terms,
            clock=self._clock,
            server_time=server_time,
        )
        self.watched_screen: MachineScreen | None = None
        self._clipboard: MachineClipboard | None = None
        self.schedule()

    @property
    def screen(self) -> MachineScreen:
        """The machine's screen, made when somebody asks for it first."""
        if self.watched_screen is None:
            self.watched_screen = MachineScreen(
                lambda question: self._feed(events.QuestionAsked(question)),
                lambda: self.is_up,
                lambda: self._observer.viewers_changed(self),
            )
        return self.watched_screen

    @property
    def clipboard(self) -> MachineClipboard:
        """The machine's clipboard, made when somebody asks for it first."""
        if self._clipboard is None:
            self._clipboard = MachineClipboard(
                lambda query: self._feed(events.QuestionAsked(query)), lambda: self.is_up
            )
        return self._clipboard

    @property
    def link_id(self) -> UUID:
        """This link's own id."""
        return self._link.link_id

    @property
    def is_up(self) -> bool:
        """Whether inputs may be claimed."""
        return self._link.is_up

    @property
    def is_live(self) -> bool:
        """Whether inputs may be sent: what earlier links left open is reconciled."""
        return self._link.is_live

    @property
    def is_greeted(self) -> bool:
        """Whether the machine's hello has come, and the link is not over yet."""
        return self._link.is_greeted

    def met(self, rival: Rival) -> None:
        """A second host has come with this machine's token, and was sent away."""
        if rival not in self.rivals and len(self.rivals) < MOST_RIVALS:
            self.rivals = (*self.rivals, rival)
            self._observer.rivals_changed(self)

    @property
    def yields(self) -> bool:
        """Whether the machine client leaves the link to another one that has it."""
        return self.greeting.yields

    @property
    def is_over(self) -> bool:
        """Whether the link is closing or closed."""
        return self._link.is_over

    @property
    def is_idle(self) -> bool:
        """Whether it is open, and its machine has nothing to do."""
        return not (self._link.is_over or self._link.commands.are_there)

    @property
    def unanswered(self) -> int:
        """How many commands wait for their acknowledgement, those that are overdue as well."""
        commands = self._link.commands
        return len(commands.unanswered) + len(commands.overdue)

    @property
    def availability(self) -> Availability:
        """Whether the machine takes inputs, and its desktop; not there before its hello."""
        return self._link.availability

    @property
    def desktop(self) -> DesktopState:
        """The desktop as the machine last said; not there before its hello."""
        return self._link.availability.desktop

    @property
    def journal_sequence(self) -> int:
        """The highest number of the machine's journal that this link has seen."""
        return self._link.journal.sequence

    @property
    def journal_mark(self) -> UUID | None:
        """The id of the journal's last mark that this link has heard of, if there is one."""
        return self._link.journal.mark

    @property
    def round_trip_seconds(self) -> float | None:
        """How long the last heartbeat took, there and back."""
        return self._link.heartbeats.round_trip_seconds

    def received(self, message: str | bytes) -> None:
        """Take one message from the websocket."""
        if self._link.is_over:
            return  # It was on its way, or is one of a flood: not worth reading.
        for event in events_of(message):
            self._feed(event)

    def frames_came(self, frames: int = 1) -> None:
        """Count frames, of whatever kind, against what a machine client may send unasked."""
        self._feed(events.FramesCounted(frames))

    @property
    def due_at(self) -> float:
        """When the link must notice that time has passed, by the loop's clock."""
        due_at = self._link.due_at
        if self._token_ends is not None and not self.is_over:
            due_at = min(due_at, self._clock() + seconds_until(self._token_ends))
        return due_at

    def schedule(self) -> None:
        """Have it ticked in time: call it where ``due_at`` may be earlier than it was."""
        self._timers.schedule(self, self.due_at)

    def tick(self) -> None:
        """Let the link notice that time has passed."""
        if self._token_ends is not None and seconds_until(self._token_ends) <= 0:
            self.token_ended()
        self._feed(events.TimePassed())

    def lost(self) -> None:
        """The websocket is closed."""
        self._feed(events.ConnectionLost())

    def close(self, code: CloseCode, reason: str) -> None:
        """End the link from this side."""
        self._feed(events.CloseRequested(code, reason))

    def token_ended(self) -> None:
        """End the link, because nobody may use its token any more."""
        self.close(CloseCode.TOKEN_REVOKED, "the token was revoked or has expired")

    def give_way(self) -> None:
        """End the link, because a newer one of the same machine takes over."""
        self.close(CloseCode.TAKEN_OVER, TAKEN_OVER)

    @contextmanager
    def slot(self, lease_hash: str | None = None) -> Iterator[None]:
        """Hold one of the slots for unanswered commands, while something else is awaited.

        ``lease_hash`` is of its control lease.  Raises a SubmissionRefusedError.
        """
        self._link.reserve(lease_hash)
        try:
            yield
        finally:
            self._link.commands.free()

    def restrict(self, restrictions: Restrictions) -> None:
        """From now on only those may send inputs, and see the machine, who may by these."""
        if self.privacy.changed(restrictions.control) and self.watched_screen is not None:
            self.watched_screen.privacy_changed(self.privacy)
        self._feed(events.RestrictionsRead(restrictions))

    def want_new_token(self, code: str) -> None:
        """Have the machine make itself a new token, and come back with this code."""
        self._feed(events.TokenWanted(code))

    def announce_stop(self) -> bool:
        """Have several actions that run end now, and their prefix told; whether any did run."""
        runs = self.is_up and self._link.commands.run_several
        self._feed(events.StopAnnounced())
        return runs

    def judged(self, judged: FrameJudged) -> None:
        """Tell the machine what a frame shows that it had shown."""
        if self.is_up:
            self._feed(events.QuestionAsked(judged))

    async def until_interrupted(self) -> None:
        """Wait until nothing runs or is held of what was interrupted.  Raises LinkDownError."""
        while self._link.interrupts.is_pending and not self._link.is_over:
            await self._interrupted_or_over.wait()
        if self._link.is_over:
            raise LinkDownError

    def welcome(self, epoch: int) -> None:
        """Greet the machine: it is admitted, as its link of this number."""
        self.epoch = epoch
        self._feed(events.MachineAdmitted())
        self.schedule()

    async def until_ready(self) -> None:
        """Wait until the machine listens.  Raises LinkDownError where that never comes."""
        await self._ready_or_over.wait()
        if self._link.is_over:
            raise LinkDownError

    async def until_up(self) -> None:
        """Have the journal marked; then inputs may be claimed.

        Call it when all is stored that a lost journal leaves unknown.  Raises LinkDownError where
        the link ends before.
        """
        self._feed(events.MarkRequested())
        self.schedule()
        await self._up_or_over.wait()
        if not self._link.is_up:
            raise LinkDownError

    async def until_restricted(self) -> None:
        """Wait until it is known whom the machine takes inputs from, and who records it.

        Raises a SubmissionRefusedError where nothing is taken, or the link ends before.
        """
        with self.slot():
            await self.privacy.until_known()
        if not self._link.is_up:
            raise LinkDownError

    async def until_live(self) -> None:
        """Wait until inputs may be sent.  Raises LinkDownError where that never comes."""
        await self._live_or_over.wait()
        if not self._link.is_live:
            raise LinkDownError

    def reconciled(self) -> None:
        """Whatever earlier links left open is reconciled: inputs may be sent."""
        self._feed(events.Reconciled())
        self._live_or_over.happens()

    def send(
        self, message: Input, answer_by: int, lease_hash: str | None = None
    ) -> asyncio.Future[Outcome]:
        """Send a command; the future ends with its outcome or with :class:`LinkLostError`.

        Its answer is due at ``answer_by``, milliseconds since 1970; ``lease_hash`` is of its
        control lease.  Raises a SubmissionRefusedError where it may not be sent now.
        """
        due = self._clock() + seconds_until(answer_by)
        effects = self._link.handle(events.InputSubmitted(message, due, lease_hash))
        answered = self._outcomes.outcome_of(message.command_id)
        self._perform_all(effects)
        self.schedule()
        return answered

    def resolve(self, message: Resolve) -> Question:
        """Ask what became of a command that an earlier link sent.  Raises LinkDownError.

        Where another request with its key is being asked about, it is that question.
        """
        if not self._link.is_up:
            raise LinkDownError
        question, is_new = self._outcomes.question(message.command_id, message.fingerprint)
        if is_new:
            self._feed(events.ResolutionRequested(message))
        return question

    def _feed(self, event: events.Event) -> None:
        self._perform_all(self._link.handle(event))

    def _perform_all(self, effects: list[events.Effect]) -> None:
        for effect in effects:
            self._perform(effect)
        if self._link.is_over or not self._link.interrupts.is_pending:
            self._interrupted_or_over.happens()
        if self._link.is_over:
            self._ready_or_over.happens()
            self._up_or_over.happens()
            self._live_or_over.happens()
            self.privacy.over()
            for asked in (self.watched_screen, self._clipboard):
                if asked is not None:
                    asked.over()

    def _perform(self, effect: events.Effect) -> None:
        match effect:
            case events.SendMessage(message):
                self._connection.send_text(message.model_dump_json())
            case events.SettleCommand(command_id, outcome):
                self._outcomes.settle(command_id, outcome)
            case events.CommandRuns(command_id):
                self._outcomes.heard_of(command_id)
            case events.AbandonCommands(command_ids):
                self._outcomes.abandon(command_ids)
            case events.CloseConnection(code, reason):
                self._close_connection(code, reason)
            case events.AdmitMachine(hello):
                self.greeting = Greeting.of(hello)
                self._background.start_and_report(self._admitted(hello), "admit a machine")
            case events.LinkReady():
                self._ready_or_over.happens()
            case events.LinkUp():
                self.schedule()
                self._up_or_over.happens()
            case events.DesktopIsNow(desktop):
                self._desktop_is(desktop)
            case events.AvailabilityChanged():
                self._observer.availability_changed(self)
            case _:
                self._arrived(effect)

    def _arrived(self, arrival: Arrival) -> None:
        """Screen or clipboard have something for whoever asked, or the screen wants to know."""
        match arrival:
            case FrameArrived():
                self._observer.frame_arrived(self, arrival)
            case ClipboardArrived() | ClipboardRefused():
                self.clipboard.arrived(arrival)
            case _:
                self.screen.arrived(arrival)

    def _desktop_is(self, desktop: DesktopChanged) -> None:
        screen = self.watched_screen
        if screen is not None and (why := self.desktop.why_no_screen) is not None:
            screen.unavailable(why, self.desktop.screen_since)
        self._observer.desktop_changed(self, desktop)

    def _close_connection(self, code: CloseCode, reason: str) -> None:
        self._connection.close(code, fitting(reason))
        self.over_code, self.over_since, self.over_reason = code, server_time(), reason
        self._observer.closing(self)

    async def _admitted(self, hello: Hello) -> None:
        try:
            await self._observer.admit(self, hello)
        except LinkDownError:
            pass  # It ended before it began, and whoever ended it has said why.
        except StoreUnavailable as error:
            logger.warning("machine=%s cannot be admitted: %s", self.machine_id, error)
            self.close(CloseCode.SERVER_ERROR, "the server's database does not answer")
        except Exception:
            self.close(CloseCode.SERVER_ERROR, "the server could not record the connection")
            raise
