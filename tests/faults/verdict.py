"""What is known of a fault run, which promises it broke, and how that is reported."""

import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from tests.faults.arrivals import Arrival, Copy
from tests.faults.hand_history import HandHistory
from tests.faults.history import CommandHistory, Fault, FinalAnswer, Try

FAULTS_AROUND_SECONDS = 3.0
EVENTS_TOLD = 200


class Broken(StrEnum):
    """What must never happen; each member says it as the row of a table."""

    DOUBLE = "double injections"
    COMPLETED_WITHOUT = '"completed" without all its events in their order'
    NEVER_WITH = '"not carried out", expired or refused, with an event'
    OVERSTATED = '"injected_at_least" above what arrived'
    LEFT_PRESSED = "buttons and keys left pressed"
    BESIDE_CONTROL = "events of programs while somebody had control"
    BY_HAND_OTHERWISE = "events of a hand twice, or in another order"
    BY_HAND_WITHOUT = "batches of a hand acknowledged without all their events"
    DIFFERS = "final answers that differ"
    UNRESOLVED = "keys unresolved 30 s after the last fault"
    UNKNOWN_WITHOUT_REASON = "UNKNOWN outside the window where it is honest"
    FAILED_WITHOUT_REASON = '"input-failed" that nothing explains'
    STRAY = "events of no command"
    UNEXPECTED = "answers that no client should get"
    GAVE_UP = "machine clients that ended by themselves"


@dataclass(frozen=True)
class JournalLoss:
    """When a machine's journal was taken away."""

    machine: str
    at: float


@dataclass
class Evidence:
    """Everything that is known after a run.

    ``hands`` are what somebody with control did by hand.
    ``arrivals`` is what each machine's witness saw, ``copies`` the texts that its selections were
    given, ``held`` what was down when all was over;
    ``journals`` has the state of each command in any of
    the machines' journals, those that were taken away included; ``ledger`` the stored state and,
    where there is one, answer of each command.  ``ends`` are machine clients that nobody killed,
    ``is_of_start`` tells which events those of a machine make by themselves when they start.
    """

    organization_id: UUID
    commands: Sequence[CommandHistory]
    faults: Sequence[Fault]
    arrivals: Mapping[str, Sequence[Arrival]]
    journals: Mapping[UUID, str]
    ledger: Mapping[UUID, tuple[str, FinalAnswer | None]]
    journal_losses: Sequence[JournalLoss] = ()
    ends: Sequence[str] = ()
    held: Mapping[str, Iterable[str]] = field(default_factory=dict)
    copies: Mapping[str, Sequence[Copy]] = field(default_factory=dict)
    hands: Sequence[HandHistory] = ()
    is_of_start: Mapping[str, Callable[[Arrival], bool]] = field(default_factory=dict)


@dataclass(frozen=True)
class Violation:
    """A promise that was broken, and everything about it."""

    broken: Broken
    detail: str
    command: CommandHistory | None = None


@dataclass
class Verdict:
    """The counts of a run, and what was wrong."""

    evidence: Evidence
    violations: list[Violation] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.violations

    def counts(self) -> Counter[Broken]:
        """How often each promise was broken."""
        return Counter(violation.broken for violation in self.violations)

    def table(self) -> str:
        """The run as a table of plain text."""
        commands, faults = self.evidence.commands, self.evidence.faults
        # Without a key an answer that is not final is all that comes.
        finals = [
            each
            for command in commands
            if (each := command.first_final() or _only_answer_to(command))
        ]
        tries = sum(len(command.tries) + len(command.other_tries) for command in commands)
        counts = self.counts()
        rows: list[tuple[str, int] | None] = [
            *sorted(Counter(fault.kind for fault in faults).items()),
            ("faults in all", len(faults)),
            None,
            *sorted(Counter(_operation_of(command) for command in commands).items()),
            ("commands", len(commands)),
            ("events that arrived", sum(map(len, self.evidence.arrivals.values()))),
            ("hands", len(self.evidence.hands)),
            ("batches of hands acknowledged", sum(map(_acknowledged, self.evidence.hands))),
            ("texts that were copied", sum(map(len, self.evidence.copies.values()))),
            ("requests sent again", tries - len(commands)),
            ("looks at a command", sum(len(command.looks) for command in commands)),
            *sorted(Counter(_kind_of(final) for final in finals).items()),
            None,
            *((broken.value, counts[broken]) for broken in Broken),
        ]
        width = max(len(row[0]) for row in rows if row)
        rule = "-" * (width + 8)
        return "\n".join(rule if row is None else f"{row[0]:{width}} {row[1]:7}" for row in rows)

    def described(self, violation: Violation) -> str:
        """Everything known about a violation."""
        command = violation.command
        lines = [f"{violation.broken}: {violation.detail}"]
        if command is not None:
            lines += [f"  {line}" for line in _describe(command, self.evidence)]
        return "\n".join(lines)


def _acknowledged(hand: HandHistory) -> int:
    return hand.acknowledged


def _operation_of(command: CommandHistory) -> str:
    down = command.input.body.get("down")
    held = "" if down is None else " (held)" if down else " (released)"
    return f"{command.input.operation}{held}{'' if command.is_keyed else ' without a key'}"


def _only_answer_to(command: CommandHistory) -> Try | None:
    return None if command.is_keyed or not command.tries else command.tries[0]


def _kind_of(final: Try) -> str:
    return f"answered with {final.status} {final.problem}".rstrip()


def _describe(command: CommandHistory, evidence: Evidence) -> Iterator[str]:
    command_id = command.id(evidence.organization_id)
    body = reprlib.repr(dict(command.input.body))
    yield f"{command.input.operation} {body} for {command.machine}"
    yield f"key {command.key}, command {command_id}"
    yield f"ledger: {evidence.ledger.get(command_id, 'nothing')}"
    yield f"journal: {evidence.journals.get(command_id, 'nothing')}"
    for name, tries in (
        ("request", command.tries),
        ("other body", command.other_tries),
        ("look", command.looks),
    ):
        for each in sorted(tries, key=lambda each: each.sent_at):
            yield (
                f"{each.sent_at:9.3f} to {each.ended_at:.3f}: {name} to {each.node}: "
                f"{each.status or each.error} {each.body.decode(errors='replace')}"
            )
    if command.tries:
        begin, end = command.window()
        begin -= FAULTS_AROUND_SECONDS
        for fault in evidence.faults:
            if fault.began_at <= end and (fault.ended_at is None or fault.ended_at >= begin):
                yield f"fault {fault}"
        around = [
            arrival
            for arrival in evidence.arrivals.get(command.machine, ())
            if begin <= arrival.at <= end
        ]
        yield from (f"event {arrival}" for arrival in around[:EVENTS_TOLD])
        for copy in evidence.copies.get(command.machine, ()):
            if begin <= copy.at <= end:
                yield f"copy {copy}"
