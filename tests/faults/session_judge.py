"""Judges a session that was disturbed: what its program was told, beside all that a witness saw."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.batches import Act, Violation, What, untrue
from tests.desktop import DeviceEvent
from tests.faults.session_plan import EXCUSES, Victim

Seen = tuple[str, What]


class Broken(StrEnum):
    """What must never happen to a session; beside what must not happen to an action."""

    SKIPPED = "steps that the program was told nothing of"
    DIFFERS = "steps told otherwise the second time"
    OUT_OF_ORDER = "steps that happened in another order"
    WITHOUT_REASON = "steps not completed though nothing of the machine's was killed"
    STRAY = "events of no step"
    NOT_REFUSED = "other steps under the name of a session, and not refused"
    ENDED = "programs that ended with an error"


@dataclass
class Session:
    """One session, from its first start to its end."""

    steps: Sequence[Sequence[Act]]
    victims: list[Victim] = field(default_factory=list)
    told: Sequence[Mapping[str, Any]] = ()
    """Everything that the program noted, in all of its runs."""
    events: Sequence[DeviceEvent] = ()


def judged(session: Session) -> Iterator[Violation]:
    """Every promise that was broken."""
    told = _by_step(session)
    seen = [each for each in map(seen_of, session.events) if each is not None]
    for number, acts in enumerate(session.steps):
        tellings = told.get(number, [])
        for broken, detail in _of_step(session, acts, tellings, seen):
            yield Violation(broken, f"step {number}: {detail}")
    yield from _of_order(session, seen)


def seen_of(event: DeviceEvent) -> Seen | None:
    """A press or a release of a key or a button, and where; None of a motion."""
    if event.kind == "MotionNotify":
        return None
    kind = "press" if event.kind.endswith("Press") else "release"
    return kind, (event.detail, event.x, event.y)


def _by_step(session: Session) -> dict[int, list[Mapping[str, Any]]]:
    told: dict[int, list[Mapping[str, Any]]] = {}
    for note in session.told:
        told.setdefault(note["step"], []).append(note)
    return told


def _of_step(
    session: Session,
    acts: Sequence[Act],
    tellings: Sequence[Mapping[str, Any]],
    seen: Sequence[Seen],
) -> Iterator[Violation]:
    if not tellings:
        yield Violation(Broken.SKIPPED, "nothing was told")
        return
    first = tellings[0]
    for each in tellings[1:]:
        if (each["told"], each["actions"]) != (first["told"], first["actions"]):
            yield Violation(Broken.DIFFERS, f"{each}, and before {first}")
    excuses = {Victim.POWER} if len(acts) > 1 and first["actions"] is None else EXCUSES
    if first["told"] != "completed" and not excuses & {*session.victims}:
        yield Violation(Broken.WITHOUT_REASON, f"{first}")
    for act, status in zip(acts, _statuses(first, len(acts)), strict=True):
        yield from untrue(act, status, [each for each in seen if each[1] in act.own])


def _statuses(told: Mapping[str, Any], number: int) -> Sequence[str]:
    """What is told of each action, be it in one word for all."""
    if told["actions"] is not None:
        return list(told["actions"])
    words = {"completed": "completed", "input-failed": "failed", "outcome-unknown": "unknown"}
    return [words[told["told"]]] * number


def _of_order(session: Session, seen: Sequence[Seen]) -> Iterator[Violation]:
    places = {what: at for at, act in enumerate(_acts(session)) for what in act.own}
    order = [places[what] for kind, what in seen if kind == "press" and what in places]
    if order != sorted(order):
        yield Violation(Broken.OUT_OF_ORDER, f"in the order {order}")
    for kind, what in seen:
        if what not in places:
            yield Violation(Broken.STRAY, f"{kind} of {what}")


def _acts(session: Session) -> Iterator[Act]:
    for acts in session.steps:
        yield from acts
