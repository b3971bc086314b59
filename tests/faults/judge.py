"""Judges a fault run: what was promised, beside what the witness, journals and ledger say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from tests.faults.arrivals import Arrival, Kind
from tests.faults.attribution import Attribution, Occurrence, attributed
from tests.faults.copying import attribute_copies
from tests.faults.history import (
    CLOCKS_DIFFER_SECONDS,
    HAS_CONTROL,
    NEVER,
    NOTHING_HAPPENED,
    SOMEBODY_HOLDS,
    CommandHistory,
    Try,
)
from tests.faults.judged_hands import without_hands
from tests.faults.verdict import Broken, Evidence, Verdict, Violation

HALF_OPEN_SECONDS = 3.0
"""How long a server may still take a link for alive, by the heartbeats of the run."""

INTERRUPTED, ALREADY_DOWN, EXPIRED = "interrupted", "already_down", "expired"
"""Why an input fails where nothing is wrong with the system under test; the last is of batches."""


def judge(evidence: Evidence) -> Verdict:
    """Hold everything against everything."""
    verdict = Verdict(evidence)
    arrivals_of_others, verdict.violations = without_hands(
        evidence.arrivals, evidence.hands, evidence.faults
    )
    evidence = replace(evidence, arrivals=arrivals_of_others)
    for machine, arrivals in evidence.arrivals.items():
        commands = [each for each in evidence.commands if each.machine == machine]
        seen = attributed(arrivals, commands)
        copies = evidence.copies.get(machine, ())
        is_of_start = evidence.is_of_start.get(machine)
        strays: list[object] = [
            *(stray for stray in seen.strays if is_of_start is None or not is_of_start(stray)),
            *attribute_copies(copies, commands, seen),
        ]
        for command in commands:
            verdict.violations += _broken_by(command, seen, evidence)
        verdict.violations += _of_no_command(machine, strays, commands)
    verdict.violations += [
        Violation(Broken.LEFT_PRESSED, f"{what} of {machine}")
        for machine, held in evidence.held.items()
        for what in sorted(held)
    ]
    verdict.violations += _beside_control(evidence)
    verdict.violations += [Violation(Broken.GAVE_UP, end) for end in evidence.ends]
    return verdict


def _of_no_command(
    machine: str, strays: Sequence[object], commands: Sequence[CommandHistory]
) -> Iterator[Violation]:
    """What fits in nowhere: where it is at the place of an action, that was done twice."""
    acted = {
        step.place: command
        for command in commands
        for step in command.input.steps
        if command.input.parts and step.place is not None
    }
    for stray in strays:
        again = acted.get(stray.place) if isinstance(stray, Arrival) else None
        broken = Broken.STRAY if again is None else Broken.DOUBLE
        yield Violation(broken, f"{stray} of {machine}", again)


def _beside_control(evidence: Evidence) -> Iterator[Violation]:
    """What programs did between the answer that gave somebody control and the end of that."""
    for fault in evidence.faults:
        if fault.kind != HAS_CONTROL or fault.ended_at is None:
            continue
        arrivals = evidence.arrivals.get(fault.target, ())
        for arrival, following in zip_longest(arrivals, arrivals[1:]):
            is_between = fault.began_at + CLOCKS_DIFFER_SECONDS < arrival.at < fault.ended_at
            if is_between and not arrival.by_person and not _is_a_persons_way(arrival, following):
                yield Violation(Broken.BESIDE_CONTROL, f"{arrival} of {fault.target}")
        for copy in evidence.copies.get(fault.target, ()):
            if fault.began_at + CLOCKS_DIFFER_SECONDS < copy.at < fault.ended_at:
                yield Violation(Broken.BESIDE_CONTROL, f"{copy} of {fault.target}")


def _is_a_persons_way(arrival: Arrival, following: Arrival | None) -> bool:
    """Whether it stands for motion that was lost earlier, and known by what a person did next."""
    return (
        arrival.kind is Kind.MOTION
        and following is not None
        and following.by_person
        and following.at == arrival.at
    )


def _broken_by(
    command: CommandHistory, seen: Attribution, evidence: Evidence
) -> Iterator[Violation]:
    happened = seen.of(command)
    if len(happened) > 1:
        yield Violation(Broken.DOUBLE, f"it happened {len(happened)} times", command)
    if seen.of_other_body(command):
        yield Violation(Broken.STRAY, "another body under its key happened", command)
    for answer in command.other_tries:
        if answer.is_final and not _is_reuse(answer):
            yield Violation(Broken.UNEXPECTED, "another body got an answer of its own", command)
    if any(answer.status == 500 for answer in command.tries):
        yield Violation(Broken.UNEXPECTED, "500: the server made a mistake", command)
    if not command.is_keyed:
        yield from _broken_without_key(command, happened, seen, evidence)
        return
    final = command.first_final()
    if final is None:
        yield Violation(Broken.UNRESOLVED, f"after {len(command.tries)} requests", command)
        return
    yield from _differing(command, final, evidence)
    yield from _untrue(command, final, happened, evidence)
    yield from _overstated(command, final, seen)


def _broken_without_key(
    command: CommandHistory, happened: Sequence[Occurrence], seen: Attribution, evidence: Evidence
) -> Iterator[Violation]:
    """What is refused must not happen; of what was lost nobody can know more than its look says."""
    final = command.first_final()
    if final is None:
        if any(each.problem in NOTHING_HAPPENED for each in command.tries):
            yield from _never(command, command.tries[0], happened)
        elif command.looks and command.looks[-1].status == 200:
            yield Violation(Broken.UNRESOLVED, f"after {len(command.looks)} looks", command)
        return
    if final.problem != "outcome-unknown":
        yield from _untrue(command, final, happened, evidence)
    yield from _overstated(command, final, seen)


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
    command: CommandHistory, final: Try, happened: Sequence[Occurrence], evidence: Evidence
) -> Iterator[Violation]:
    if final.status == 200:
        if command.input.must_be_refused:
            yield Violation(Broken.UNEXPECTED, "a wrong request was completed", command)
        elif command.input.is_seen and not any(_is_as_told(each) for each in happened):
            yield Violation(Broken.COMPLETED_WITHOUT, _seen_of(happened), command)
    elif final.status == 422:
        if not command.input.must_be_refused or _is_reuse(final):
            yield Violation(Broken.UNEXPECTED, "a good request was refused", command)
        yield from _never(command, final, happened)
    elif final.problem in NEVER:
        yield from _never(command, final, happened)
    elif final.problem == "outcome-unknown":
        if not _is_honest(command, final, evidence):
            yield Violation(
                Broken.UNKNOWN_WITHOUT_REASON, "the journal has no intent without an end", command
            )
        yield from _actions(command, final, happened)
    elif final.problem == "input-failed":
        yield from _failed(command, final, happened, evidence)
    else:
        yield Violation(Broken.UNEXPECTED, f"{final.status} {final.problem}", command)


def _failed(
    command: CommandHistory, final: Try, happened: Sequence[Occurrence], evidence: Evidence
) -> Iterator[Violation]:
    """Cut short by the end of its link; or refused, as a person held what it had to press."""
    code = final.json.get("code")
    yield from _actions(command, final, happened)
    if code == ALREADY_DOWN:
        if not command.input.parts:
            yield from _never(command, final, happened)
        if not _is_in_a_persons_way(command, final, evidence):
            yield Violation(Broken.FAILED_WITHOUT_REASON, "nobody else held anything", command)
    elif code != INTERRUPTED and not (command.input.parts and code == EXPIRED):
        yield Violation(Broken.FAILED_WITHOUT_REASON, f"{code}", command)


def _actions(
    command: CommandHistory, final: Try, happened: Sequence[Occurrence]
) -> Iterator[Violation]:
    """What is told of each of several actions that were not all done; nothing, if nothing is known.

    A finished prefix, one more at most that has begun, and the rest not begun.
    """
    statuses = [each["status"] for each in final.json.get("actions") or ()]
    if not statuses:
        return
    done = next((at for at, each in enumerate(statuses) if each != "completed"), len(statuses))
    if final.json.get("completed") != done or any(
        each != "not_begun" for each in statuses[done + 1 :]
    ):
        yield Violation(Broken.UNEXPECTED, f"completed and {statuses}", command)
        return
    begun = done if statuses[done:][:1] in ([], ["not_begun"]) else done + 1
    at_least, at_most = (
        sum(len(part.steps) for part in command.input.parts[:number]) for number in (done, begun)
    )
    came = sum(each.matched for each in happened[:1])
    if came < at_least and not any(each.is_disturbed for each in happened):
        yield Violation(Broken.COMPLETED_WITHOUT, f"{came} steps, and {statuses}", command)
    if came > at_most:
        yield Violation(Broken.NEVER_WITH, f"{came} steps, and {statuses}", command)


def _never(
    command: CommandHistory, final: Try, happened: Sequence[Occurrence]
) -> Iterator[Violation]:
    if happened:
        detail = f"{final.problem or 'refused'}, and {_seen_of(happened)}"
        yield Violation(Broken.NEVER_WITH, detail, command)


def _overstated(command: CommandHistory, final: Try, seen: Attribution) -> Iterator[Violation]:
    """An answer that claims more events than there were."""
    claimed = final.json.get("injected_at_least", 0) if final.status == 502 else 0
    arrived = sum(each.events for each in seen.of(command))
    if not command.input.steps:
        begin, end = command.window()
        arrived += sum(
            each.what in command.input.lets_go and begin <= each.at <= end for each in seen.released
        )
    if claimed > arrived:
        yield Violation(Broken.OVERSTATED, f"{claimed} claimed, {arrived} arrived", command)


def _is_as_told(occurrence: Occurrence) -> bool:
    """Whether all of it came; but what a person does in that very moment, nobody can prevent."""
    return occurrence.is_whole or occurrence.is_disturbed


def _is_in_a_persons_way(command: CommandHistory, final: Try, evidence: Evidence) -> bool:
    began_at, _ = command.window()
    return any(
        fault.kind == SOMEBODY_HOLDS
        and fault.target == command.machine
        and fault.began_at <= final.ended_at
        and (fault.ended_at is None or fault.ended_at >= began_at)
        for fault in evidence.faults
    )


def _seen_of(happened: Sequence[Occurrence]) -> str:
    if not happened:
        return "nothing happened"
    if happened[0].input.copied is not None:
        return f"its text was copied {len(happened)} times"
    return " and ".join(
        f"{each.matched} of {len(each.input.steps)} steps happened"
        + (f" and it left {', '.join(sorted(each.left))} pressed" if each.left else "")
        for each in happened
    )


def _is_honest(command: CommandHistory, final: Try, evidence: Evidence) -> bool:
    """Whether nobody could know: begun and not finished, or open when its journal was lost.

    Or sent on a link that was greeted with that journal, and whose end nobody had noticed yet.
    """
    if evidence.journals.get(command.id(evidence.organization_id)) == "INTENT":
        return True
    began_at, _ = command.window()
    return any(
        loss.machine == command.machine
        and began_at - HALF_OPEN_SECONDS <= loss.at <= final.ended_at
        for loss in evidence.journal_losses
    )


def _is_reuse(answer: Try) -> bool:
    return answer.status == 422 and b"idempotency_key_reused" in answer.body
