"""What is to be done at the desktop and in the journal, and what came of it: plain values."""

from dataclasses import dataclass, field
from uuid import UUID

from schemas.inputs.outcomes import Outcome
from schemas.link.clipboard_messages import ClipboardQuery
from schemas.link.messages import Input, Resolve


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


ExecutorEffect = (
    BeginCommand | LookUpCommand | ExpireCommand | MarkJournal | ReleaseHeld | InterruptCommands
)
"""What the threads do that touch the desktop and the journal."""


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


ExecutorResult = (
    CommandEnded | CommandLookedUp | CommandsInterrupted | JournalMarked | JournalFailed
)
"""What the threads report."""


@dataclass(frozen=True, slots=True)
class ReadClipboard:
    """Read the clipboard now; then feed ClipboardTaken with this query."""

    query: ClipboardQuery


@dataclass(frozen=True, slots=True)
class ClipboardTaken:
    """A query has its answer: the text, or the code and the reason why there is none."""

    query: ClipboardQuery
    text: str = field(repr=False, default="")
    failure: tuple[str, str] | None = None
