"""Performs what a link's state machine decides, on a real websocket."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol
from uuid import UUID, uuid4

from pydantic import ValidationError

from schemas.http.problems import entries_of, sentence
from schemas.inputs.outcomes import Outcome
from schemas.link.messages import (
    CLIENT_MESSAGES,
    Ack,
    CloseCode,
    DesktopChanged,
    Hello,
    Input,
    Report,
    Resolve,
)
from schemas.link.picture_frames import MAX_PICTURE_BYTES
from schemas.values.foreign_texts import foreign_text
from server.clock import server_time
from server.machines.desktop import LiveDesktop
from server.machines.errors import LinkBusyError, LinkDownError
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
from server.machines.link.link import Link
from server.machines.link.screen import (
    DesktopArrived,
    LivePictureArrived,
    LiveScreenEnded,
    RequestRefused,
    ScreenshotArrived,
)
from server.machines.pending_outcomes import PendingOutcomes, Question
from server.machines.screens import MachineScreen
from server.store.errors import StoreUnavailable
from server.tasks import Tasks

logger = logging.getLogger(__name__)

CHARACTERS_OF_A_FRAME = 512
"""A text counts as one frame more for each so many: reading it takes as long as reading them."""

LARGE_FRAME_BYTES = 8 * 1024
"""Frames of a picture that are so large are no more than the picture needs, and count as none."""

MAX_REASON_BYTES = 123
"""What RFC 6455 leaves for a close reason in a control frame."""


class Connection(Protocol):
    """The part of a websocket that a link needs."""

    def send_text(self, text: str) -> None:
        """Queue one text frame."""

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake."""


class LinkSocket:
    """One machine's live link: commands in, outcomes out.

    ``admit`` records a hello, makes this the machine's newest link and settles what earlier links
    left open.  Inputs may be claimed for the link once it is up, and are sent once it is settled.
    ``took_over`` is whether it replaced another that was live.  ``closing`` is called when this
    side begins to close it, and then ``over_code``, ``over_since`` and ``over_reason`` say how,
    when and why.  ``desktop`` is as the machine last said; ``desktop_changed`` is called when it
    says otherwise.
    """

    hello: Hello
    desktop: LiveDesktop
    epoch: int = 0
    paused: bool = False
    is_settled: bool = False
    up_since: int
    took_over: bool = False
    over_code: CloseCode | None = None
    over_since: int = 0
    over_reason: str = ""
    closing: "Callable[[LinkSocket], None] | None" = None
    desktop_changed: "Callable[[LinkSocket, DesktopChanged], None] | None" = None

    def __init__(
        self,
        connection: Connection,
        *,
        organization_id: UUID,
        machine_id: str,
        token_id: UUID,
        admit: "Callable[[LinkSocket, Hello], Awaitable[None]]",
        background: Tasks,
        unanswered_limit: int,
        heartbeat_seconds: float,
        largest_picture: int = MAX_PICTURE_BYTES,
        reconnect_spread_seconds: float = 0.0,
    ) -> None:
        self.organization_id = organization_id
        self.machine_id = machine_id
        self.token_id = token_id
        self.up_since = server_time()
        self._connection = connection
        self._admit = admit
        self.background = background
        self._claiming = 0
        self._outcomes = PendingOutcomes()
        self._ready_or_over, self._up_or_over = asyncio.Event(), asyncio.Event()
        self._settled_or_over = asyncio.Event()
        self._link = Link(
            link_id=uuid4(),
            machine_id=machine_id,
            unanswered_limit=unanswered_limit,
            heartbeat_seconds=heartbeat_seconds,
            clock=asyncio.get_running_loop().time,
            server_time=server_time,
            largest_picture=largest_picture,
            reconnect_spread_seconds=reconnect_spread_seconds,
        )
        self.screen = MachineScreen(
            lambda question: self._feed(ScreenAsked(question)), lambda: self.is_up
        )

    @property
    def link_id(self) -> UUID:
        """This link's own id."""
        return self._link.link_id

    @property
    def is_up(self) -> bool:
        """Whether inputs may be sent."""
        return self._link.is_up

    @property
    def is_greeted(self) -> bool:
        """Whether the machine's hello has come, and the link is not over yet."""
        return self._link.is_greeted

    @property
    def yields(self) -> bool:
        """Whether the machine client leaves the link to another one that has it."""
        return self._link.protocol >= 2 and self.hello.yields

    @property
    def is_over(self) -> bool:
        """Whether the link is closing or closed."""
        return self._link.is_over

    @property
    def unanswered(self) -> int:
        """How many commands wait for their acknowledgement."""
        return len(self._link.unanswered)

    @property
    def journal_sequence(self) -> int:
        """The highest number of the machine's journal that this link has seen."""
        return self._link.journal_sequence

    @property
    def journal_mark(self) -> UUID | None:
        """The id of the journal's last mark that this link has heard of, if marks have ids."""
        return self._link.journal_mark

    @property
    def round_trip_seconds(self) -> float | None:
        """How long the last heartbeat took, there and back."""
        return self._link.round_trip_seconds

    def received(self, message: str | bytes) -> None:
        """Take one message from the websocket."""
        if self._link.is_over:
            return  # It was on its way, or is one of a flood: not worth reading.
        if isinstance(message, bytes):
            if len(message) >= LARGE_FRAME_BYTES:
                self.frames_came(-1)
            self._feed(FrameReceived(message))
            return
        try:
            parsed = CLIENT_MESSAGES.validate_json(message)
        except ValidationError as error:
            entries = entries_of(error.errors(include_url=False, include_input=False))
            self._feed(UnreadableReceived(f"not a message: {foreign_text(sentence(entries[0]))}"))
            return
        # An answer is as long as it must be; one to no question ends the link in any case.
        if not isinstance(parsed, Ack | Report):
            self.frames_came(len(message) // CHARACTERS_OF_A_FRAME)
        self._feed(MessageReceived(parsed))

    def frames_came(self, frames: int = 1) -> None:
        """Count frames, of whatever kind, against what a machine client may send unasked."""
        self._feed(FramesCounted(frames))

    def tick(self) -> None:
        """Let the link notice that time has passed; call once a second."""
        self._feed(TimePassed())

    def lost(self) -> None:
        """The websocket is closed."""
        self._feed(ConnectionLost())

    def close(self, code: CloseCode, reason: str) -> None:
        """End the link from this side."""
        self._feed(CloseRequested(code, reason))

    def give_way(self) -> None:
        """End the link, because a newer one of the same machine takes over."""
        self.close(
            self._link.takeover_code,
            "a newer connection with this machine's token took over; "
            "every machine needs a token of its own",
        )

    def check_place(self) -> None:
        """Raise where no further command may be sent now, and why."""
        if not self._link.is_up:
            raise LinkDownError
        if self._claiming + len(self._link.unanswered) >= self._link.unanswered_limit:
            raise LinkBusyError

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places for unanswered commands, while something else is awaited."""
        self.check_place()
        self._claiming += 1
        try:
            yield
        finally:
            self._claiming -= 1

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
        self._feed(MarkRequested())
        await self._up_or_over.wait()
        if not self._link.is_up:
            raise LinkDownError

    async def until_settled(self) -> None:
        """Wait until inputs may be sent.  Raises LinkDownError where that never comes."""
        await self._settled_or_over.wait()
        if not self._link.is_up:
            raise LinkDownError

    def settled(self) -> None:
        """Whatever earlier links left open is settled: inputs may be sent."""
        self.is_settled = True
        self._settled_or_over.set()

    def send(self, message: Input) -> asyncio.Future[Outcome]:
        """Send a command; the future ends with its outcome or with :class:`LinkLostError`."""
        if not (self._link.is_up and self.is_settled):
            raise LinkDownError
        answered = self._outcomes.outcome_of(message.command_id)
        self._feed(InputSubmitted(message))
        return answered

    def resolve(self, message: Resolve) -> Question:
        """Ask what became of a command that an earlier link sent."""
        if not self._link.is_up:
            raise LinkDownError
        question, is_new = self._outcomes.question(message.command_id)
        if is_new:
            self._feed(ResolutionRequested(message))
        return question

    def _feed(self, event: Event) -> None:
        for effect in self._link.handle(event):
            self._perform(effect)
        if self._link.is_over:
            self._ready_or_over.set()
            self._up_or_over.set()
            self._settled_or_over.set()
            self.screen.over()

    def _perform(self, effect: Effect) -> None:
        match effect:
            case SendMessage(message):
                self._connection.send_text(message.model_dump_json())
            case SettleCommand(command_id, outcome):
                self._outcomes.settle(command_id, outcome)
            case CommandRuns(command_id):
                self._outcomes.heard_of(command_id)
            case AbandonCommands(command_ids):
                self._outcomes.abandon(command_ids)
            case CloseConnection(code, reason):
                self._close_connection(code, reason)
            case AdmitMachine(hello):
                self.background.start_and_report(self._admitted(hello), "admit a machine")
            case LinkReady():
                self._ready_or_over.set()
            case LinkUp():
                self._up_or_over.set()
            case DesktopIsNow(desktop):
                self._desktop_is(desktop)
            case (
                LivePictureArrived()
                | ScreenshotArrived()
                | DesktopArrived()
                | RequestRefused()
                | LiveScreenEnded()
            ):
                self.screen.arrived(effect)

    def _desktop_is(self, desktop: DesktopChanged) -> None:
        self.desktop = self.desktop.changed_to(desktop, server_time())
        if not desktop.screen.available:
            self.screen.unavailable(desktop.screen.reason or "it did not say why")
        if self.desktop_changed is not None:
            self.desktop_changed(self, desktop)

    def _close_connection(self, code: CloseCode, reason: str) -> None:
        self._connection.close(code, _fitting(reason))
        self.over_code, self.over_since, self.over_reason = code, server_time(), reason
        if self.closing is not None:
            self.closing(self)

    async def _admitted(self, hello: Hello) -> None:
        self.hello, self.desktop = hello, LiveDesktop.greeted(hello, self.up_since)
        try:
            await self._admit(self, hello)
        except LinkDownError:
            pass  # It ended before it began, and whoever ended it has said why.
        except StoreUnavailable as error:
            logger.warning("machine=%s cannot be admitted: %s", self.machine_id, error)
            self.close(CloseCode.SERVER_ERROR, "the server's database does not answer")
        except Exception:
            self.close(CloseCode.SERVER_ERROR, "the server could not record the connection")
            raise

    def welcome(self) -> None:
        """Greet the machine: it is admitted."""
        self._feed(MachineAdmitted())


def _fitting(reason: str) -> str:
    """Cut a reason to what a close frame can carry, at a character's border."""
    return reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
