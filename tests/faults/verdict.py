"""Judges a fault run: what was promised, beside what the witness, journals and ledger say."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from tests.faults.history import CommandHistory, Fault, FinalAnswer, Place, Try

FAULTS_AROUND_SECONDS = 3.0


HALF_OPEN_SECONDS = 3.0
"""How long a server may still take a link for alive, by the heartbeats of the run."""


class Broken(StrEnum):
    """What must never happen; each member says it as the row of a table."""

    DOUBLE = "double injections"
    COMPLETED_WITHOUT = '"completed" without its events'
    NEVER_WITH = '"not carried out", expired or refused, with an event'
    DIFFERS = "final answers that differ"
    UNRESOLVED = "keys unresolved 30 s after the last fault"
    UNKNOWN_WITHOUT_REASON = "UNKNOWN outside the window where it is honest"
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

    ``presses`` is what each machine's witness saw; ``journals`` the state of each command in any of
    the machines' journals, those that were taken away included; ``ledger`` the stored state and,
    where there is one, answer of each command.  ``ends`` are machine clients that nobody killed.
    """

    organization_id: UUID
    commands: Sequence[CommandHistory]
    faults: Sequence[Fault]
    presses: Mapping[str, Mapping[Place, int]]
    journals: Mapping[UUID, str]
    ledger: Mapping[UUID, tuple[str, FinalAnswer | None]]
    journal_losses: Sequence[JournalLoss] = ()
    ends: Sequence[str] = ()


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
        finals = [each for command in commands if (each := command.first_final())]
        tries = sum(len(command.tries) + len(command.other_tries) for command in commands)
        counts = self.counts()
        rows: list[tuple[str, int] | None] = [
            *sorted(Counter(fault.kind for fault in faults).items()),
            ("faults in all", len(faults)),
            None,
            ("commands", len(commands)),
            ("requests sent again", tries - len(commands)),
            ("looks at a command", sum(len(command.looks) for command in commands)),
            *sorted(Counter(_kind_of(final) for final in finals).items()),
            None,
            *((broken.value, counts[broken]) for broken in Broken),
        ]
        width = max(len(row[0]) for row in rows if row)
        rule = "-" * (width + 8)
        return "\n".join(rule if row is None else f"{row[0]:{width}} {row[1]:7}" for row in rows)

    def told(self, violation: Violation) -> str:
        """Everything known about a violation."""
        command = violation.command
        lines = [f"{violation.broken}: {violation.detail}"]
        if command is not None:
            lines += [f"  {line}" for line in _told(command, self.evidence)]
        return "\n".join(lines)


def judge(evidence: Evidence) -> Verdict:
    """Hold everything against everything."""
    verdict = Verdict(evidence)
    for command in evidence.commands:
        verdict.violations += _broken_by(command, evidence)
    verdict.violations += _stray_events(evidence)
    verdict.violations += [Violation(Broken.GAVE_UP, end) for end in evidence.ends]
    return verdict


def _broken_by(command: CommandHistory, evidence: Evidence) -> Iterator[Violation]:
    presses = _presses(command.place, command, evidence)
    if presses > command.presses:
        yield Violation(Broken.DOUBLE, f"{presses} presses instead of {command.presses}", command)
    for answer in command.other_tries:
        if answer.is_final and not _is_reuse(answer):
            yield Violation(Broken.UNEXPECTED, "another body got an answer of its own", command)
    if any(answer.status == 500 for answer in command.tries):
        yield Violation(Broken.UNEXPECTED, "500: the server made a mistake", command)
    final = command.first_final()
    if final is None:
        yield Violation(Broken.UNRESOLVED, f"after {len(command.tries)} requests", command)
        return
    yield from _differing(command, final, evidence)
    yield from _untrue(command, final, presses, evidence)


def _differing(command: CommandHistory, final: Try, evidence: Evidence) -> Iterator[Violation]:
    answers = {each.answer for each in command.tries if each.is_final}
    if len(answers) > 1:
        yield Violation(Broken.DIFFERS, f"{len(answers)} different answers", command)
    looked_up = (final.status, final.json)
    if any(look.looked_up not in (None, looked_up) for look in command.looks):
        yield Violation(Broken.DIFFERS, "a look shows another answer", command)
    _, stored = evidence.ledger.get(command.id(evidence.organization_id), ("", None))
    if stored != final.answer:
        yield Violation(Broken.DIFFERS, "the ledger has another answer, or none", command)


def _untrue(
    command: CommandHistory, final: Try, presses: int, evidence: Evidence
) -> Iterator[Violation]:
    if final.status == 200:
        if presses < command.presses:
            yield Violation(
                Broken.COMPLETED_WITHOUT, f"{presses} presses instead of {command.presses}", command
            )
    elif final.status == 422:
        if command.place is not None or _is_reuse(final):
            yield Violation(Broken.UNEXPECTED, "a good request was refused", command)
        if presses:
            yield Violation(Broken.NEVER_WITH, f"refused, and {presses} presses", command)
    elif final.problem in ("not-carried-out", "input-expired"):
        if presses:
            yield Violation(Broken.NEVER_WITH, f"{final.problem}, and {presses} presses", command)
    elif final.problem == "outcome-unknown":
        if not _is_honest(command, final, evidence):
            yield Violation(
                Broken.UNKNOWN_WITHOUT_REASON, "the journal has no intent without an end", command
            )
    elif final.problem != "input-failed":
        yield Violation(Broken.UNEXPECTED, f"{final.status} {final.problem}", command)


def _is_honest(command: CommandHistory, final: Try, evidence: Evidence) -> bool:
    """Whether nobody could know: begun and not finished, or open when its journal was lost.

    Or sent on a link that was greeted with that journal, and whose end nobody had noticed yet.
    """
    if evidence.journals.get(command.id(evidence.organization_id)) == "INTENT":
        return True
    began_at = min(each.sent_at for each in command.tries)
    return any(
        loss.machine == command.machine
        and began_at - HALF_OPEN_SECONDS <= loss.at <= final.ended_at
        for loss in evidence.journal_losses
    )


def _is_reuse(answer: Try) -> bool:
    return answer.status == 422 and b"idempotency_key_reused" in answer.body


def _presses(place: Place | None, command: CommandHistory, evidence: Evidence) -> int:
    return 0 if place is None else evidence.presses[command.machine].get(place, 0)


def _stray_events(evidence: Evidence) -> Iterator[Violation]:
    known = {(command.machine, command.place) for command in evidence.commands}
    others = {
        (command.machine, command.other_place): command
        for command in evidence.commands
        if command.other_place is not None
    }
    for machine, presses in evidence.presses.items():
        for place, count in presses.items():
            if (machine, place) not in known:
                yield Violation(
                    Broken.STRAY,
                    f"{count} presses at {tuple(place)} of {machine}",
                    others.get((machine, place)),
                )


def _kind_of(final: Try) -> str:
    return f"answered with {final.status} {final.problem}".rstrip()


def _told(command: CommandHistory, evidence: Evidence) -> Iterator[str]:
    command_id = command.id(evidence.organization_id)
    yield f"{command.operation} {dict(command.body)} for {command.machine}"
    yield f"key {command.key}, command {command_id}"
    yield f"ledger: {evidence.ledger.get(command_id, 'nothing')}"
    yield f"journal: {evidence.journals.get(command_id, 'nothing')}"
    yield f"presses seen: {_presses(command.place, command, evidence)}"
    if command.other_place is not None:
        yield f"presses of the other body: {_presses(command.other_place, command, evidence)}"
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
        begin = min(each.sent_at for each in command.tries) - FAULTS_AROUND_SECONDS
        end = max(each.ended_at for each in command.tries)
        for fault in evidence.faults:
            if fault.began_at <= end and (fault.ended_at is None or fault.ended_at >= begin):
                yield f"fault {fault}"
