"""What happens on the server's end of a link, and what must be done about it."""

from dataclasses import dataclass, field
from uuid import UUID

from schemas.inputs.outcomes import Outcome
from schemas.link import messages
from schemas.link.clipboard_messages import ClipboardQuery
from schemas.link.close_codes import CloseCode
from server.machines.link.questions.clipboard import ClipboardArrival
from server.machines.link.questions.screen import ScreenArrival, ScreenQuestion
from server.machines.link.restrictions import Restrictions


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The machine client said something that could be read."""

    message: messages.ClientMessage


@dataclass(frozen=True, slots=True)
class UnreadableReceived:
    """The machine client sent what is no message; ``reason`` says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """The machine client sent a binary frame."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class FramesCounted:
    """Something came, whatever it was; ``frames`` is less than none for what has been asked."""

    frames: int


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """Something about screen or clipboard is to be asked; the numbers of each grow."""

    question: ScreenQuestion | ClipboardQuery


@dataclass(frozen=True, slots=True)
class MachineAdmitted:
    """The hello was recorded: the link is the machine's newest."""


@dataclass(frozen=True, slots=True)
class MarkRequested:
    """All that a lost journal leaves unknown is stored: the journal may count its number up."""


@dataclass(frozen=True, slots=True)
class InputSubmitted:
    """A command is to be carried out, and answered before ``answer_by`` by the link's clock.

    ``lease_hash`` is of the control lease that it came with, if it did.
    """

    message: messages.Input
    answer_by: float
    lease_hash: str | None = None


@dataclass(frozen=True, slots=True)
class ResolutionRequested:
    """The machine is to be asked what became of a command that was sent earlier."""

    message: messages.Resolve


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The machine has said what became of all that earlier links had sent it."""


@dataclass(frozen=True, slots=True)
class RestrictionsRead:
    """Whom the machine takes inputs from, as operators have decided by now."""

    restrictions: Restrictions


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Nothing happened, but later."""


@dataclass(frozen=True, slots=True)
class StopAnnounced:
    """The server stops, and waits no longer: several actions that run are to end before it."""


@dataclass(frozen=True, slots=True)
class TokenWanted:
    """The machine is to make itself a new token, and to come back with this code."""

    code: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CloseRequested:
    """The server wants the link to end."""

    code: CloseCode
    reason: str


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The socket is closed, whoever did it."""


MachineEvent = MessageReceived | UnreadableReceived | FrameReceived | FramesCounted | TimePassed
"""What comes from the machine client, or does not come in time."""

ServerEvent = (
    QuestionAsked
    | MachineAdmitted
    | MarkRequested
    | InputSubmitted
    | ResolutionRequested
    | Reconciled
    | RestrictionsRead
    | StopAnnounced
    | TokenWanted
    | CloseRequested
)
"""What the server wants of the link."""

Event = MachineEvent | ServerEvent | ConnectionLost


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Write this to the socket."""

    message: messages.ServerMessage


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """Close the socket with this code."""

    code: CloseCode
    reason: str


@dataclass(frozen=True, slots=True)
class AdmitMachine:
    """Record the hello and make this the machine's link; then feed MachineAdmitted."""

    hello: messages.Hello


@dataclass(frozen=True, slots=True)
class LinkReady:
    """The machine client listens to this link: judge what its hello says of the journal."""


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The journal has a mark of this link: inputs may be claimed."""


@dataclass(frozen=True, slots=True)
class CommandRuns:
    """A command that was asked about is not over; its acknowledgement will follow.

    It may be another request's, which has the key of the one that was asked about.
    """

    command_id: UUID


@dataclass(frozen=True, slots=True)
class DesktopIsNow:
    """The desktop has changed: this is how it is now."""

    desktop: messages.DesktopChanged


@dataclass(frozen=True, slots=True)
class AvailabilityChanged:
    """The desktop got stuck, or is not any more: whoever shows the machine should look."""


@dataclass(frozen=True, slots=True)
class SettleCommand:
    """A command's final outcome is known."""

    command_id: UUID
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class AbandonCommands:
    """No answer will come on this link any more."""

    command_ids: tuple[UUID, ...]


Effect = (
    SendMessage
    | CloseConnection
    | AdmitMachine
    | LinkReady
    | LinkUp
    | CommandRuns
    | DesktopIsNow
    | AvailabilityChanged
    | SettleCommand
    | AbandonCommands
    | ScreenArrival
    | ClipboardArrival
)
