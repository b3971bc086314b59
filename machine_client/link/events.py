"""What happens to a session, and what must be done about it."""

from dataclasses import dataclass
from uuid import UUID

from machine_client.link.clipboard import ClipboardTaken, ReadClipboard
from machine_client.screen.sender import ScreenEffect, ScreenResult
from schemas.inputs.outcomes import Outcome
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    ClientMessage,
    DesktopChanged,
    Hello,
    Input,
    Resolve,
    ServerMessage,
)


@dataclass(frozen=True, slots=True)
class LinkOpened:
    """The websocket is open."""

    hello: Hello


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The server said something."""

    message: ServerMessage


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A command that was to begin, or to expire, has its outcome."""

    command_id: UUID
    outcome: Outcome
    journal_sequence: int


@dataclass(frozen=True, slots=True)
class CommandLookedUp:
    """The journal said what became of a command; None is still running."""

    command_id: UUID
    outcome: Outcome | None
    journal_sequence: int


@dataclass(frozen=True, slots=True)
class JournalMarked:
    """The journal has counted its number up, and the mark has this id."""

    journal_sequence: int
    mark: UUID


@dataclass(frozen=True, slots=True)
class JournalFailed:
    """The journal cannot be written or read, as on a full disk; ``reason`` is for a person.

    ``command_id`` is the command that was looked up in vain, if that is what failed.
    """

    reason: str
    command_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class CommandsInterrupted:
    """What ran when this was asked for has ended since, and nothing is held any more."""

    request: UUID


@dataclass(frozen=True, slots=True)
class DesktopObserved:
    """The desktop was looked at and is as this says."""

    desktop: DesktopChanged


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Nothing happened, but later."""


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The websocket is closed, whoever did it."""


Event = (
    LinkOpened
    | MessageReceived
    | CommandEnded
    | CommandLookedUp
    | JournalMarked
    | CommandsInterrupted
    | DesktopObserved
    | JournalFailed
    | ScreenResult
    | ClipboardTaken
    | TimePassed
    | LinkLost
)


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Write this to the websocket."""

    message: ClientMessage


@dataclass(frozen=True, slots=True)
class BeginCommand:
    """Carry out this command, unless the clock is past ``begin_by``; then feed CommandEnded."""

    command: Input
    begin_by: float


@dataclass(frozen=True, slots=True)
class LookUpCommand:
    """Ask the journal about a command that does not run, and bar it if it is not there.

    Then feed CommandLookedUp, or JournalFailed with its id.
    """

    question: Resolve


@dataclass(frozen=True, slots=True)
class ExpireCommand:
    """Answer this late command: from the journal, where it is known, and expired if not."""

    command: Input


@dataclass(frozen=True, slots=True)
class MarkJournal:
    """Count the journal's number up; then feed JournalMarked."""


@dataclass(frozen=True, slots=True)
class ReleaseHeld:
    """Release every key and button that is held, after the running command."""


@dataclass(frozen=True, slots=True)
class InterruptCommands:
    """End the running command early, and release what is held; then feed CommandsInterrupted."""

    request: UUID


@dataclass(frozen=True, slots=True)
class CloseLink:
    """Close the websocket with this code."""

    code: CloseCode
    reason: str


ExecutorEffect = (
    BeginCommand | LookUpCommand | ExpireCommand | MarkJournal | ReleaseHeld | InterruptCommands
)
"""What the threads do that touch the desktop and the journal."""

Effect = SendMessage | ExecutorEffect | CloseLink | ScreenEffect | ReadClipboard
