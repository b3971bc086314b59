"""Judges a recording under which processes were killed: its steps, beside all that a witness saw.

Every click has a place that nothing else in a run has, and a number that is higher than those of
all before it; every text is known by its command.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from schemas.steps.step import GAP
from tests.batches import Violation
from tests.faults.arrivals import Place

SAFE_SECONDS = 1.0
"""What was answered so long before a kill is not lost, unless the database stood still."""

Mark = Place | str
"""What tells a step from all others: a click's place, a text's command."""

Steps = Sequence[Mapping[str, Any]]


class Victim(StrEnum):
    """Who is killed; each member says it as the row of a table."""

    RECORDER = "node that records killed"
    OTHER_NODE = "another node killed"
    CLIENT = "machine client killed"
    DATABASE = "MongoDB's primary killed"
    BUS = "NATS killed"


class Broken(StrEnum):
    """What must never happen to a recording."""

    LOST = "steps lost that were answered over a second ago"
    TWICE = "steps that are there twice"
    UNMARKED = "missing steps without a gap where they were"
    STRAY = "steps of clicks that nobody saw"


@dataclass(frozen=True)
class Input:
    """A click or a text, and when it was known to be completed, if it ever was.

    ``sent_at`` is of the request that was told so, the last of several.  The mark of a text is
    known with its answer.
    """

    number: int
    mark: Mark | None
    sent_at: float
    answered_at: float | None = None


@dataclass(frozen=True)
class Kill:
    """Who was killed, and in between which moments.

    For so long the database did nothing, beside the second before in which it worked: so long
    another program's writes into it took.
    """

    victim: Victim
    began_at: float
    ended_at: float
    stalled_seconds: float = 0.0

    def excuses(self, one: Input) -> bool:
        """Whether an input may be missing after it: that was answered by who was killed, just now.

        An answer may be read a little later than it was given.
        """
        safe_at = self.began_at - SAFE_SECONDS - self.stalled_seconds
        return (
            self.victim is Victim.RECORDER
            and one.answered_at is not None
            and one.sent_at <= self.ended_at
            and safe_at <= one.answered_at <= self.ended_at + SAFE_SECONDS
        )


@dataclass
class Recorded:
    """One recording, from its beginning to its end."""

    name: str
    kills: list[Kill] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    steps: Steps = ()
    pressed: Sequence[Place] = ()
    """Where the witness saw the button go down."""

    @property
    def missing(self) -> list[Input]:
        """What was answered and is no step."""
        there = {*marks(self.steps)}
        return [each for each in self.inputs if each.answered_at and each.mark not in there]

    @property
    def lost_seconds(self) -> float:
        """How long before the kill of a recorder the earliest was answered of what it lost."""
        kills = [each.began_at for each in self.kills if each.victim is Victim.RECORDER]
        before = [
            min((at - one.answered_at for at in kills if at >= one.answered_at), default=0.0)
            for one in self.missing
            if one.answered_at is not None
        ]
        return max(before, default=0.0)


def marks(steps: Steps) -> list[Mark]:
    """What tells them apart, of clicks and texts; a release alone belongs to its press."""
    found: list[Mark] = []
    for step in steps:
        body = step["body"]
        if step["operation"] == "mouse.click" and body.get("down") is not False:
            found.append(Place(body["x"], body["y"]))
        elif step["operation"] == "mouse.drag" and _is_a_long_press(body):
            found.append(Place(body["start_x"], body["start_y"]))
        elif step["operation"] == "keyboard.type":
            found.append(step["command_id"])
    return found


def _is_a_long_press(body: Mapping[str, Any]) -> bool:
    """A button that was down for half a second, at one place: a hand on a busy machine is slow."""
    return bool((body["start_x"], body["start_y"]) == (body["to_x"], body["to_y"]))


def judged(recorded: Recorded) -> Iterator[Violation]:
    """Every promise that was broken."""
    for one in recorded.missing:
        if not any(kill.excuses(one) for kill in recorded.kills):
            yield Violation(Broken.LOST, f"{recorded.name}: {one}, {recorded.kills}")
    found = marks(recorded.steps)
    for mark, count in Counter(found).items():
        if count > 1:
            yield Violation(Broken.TWICE, f"{recorded.name}: {mark}")
        if isinstance(mark, Place) and mark not in recorded.pressed:
            yield Violation(Broken.STRAY, f"{recorded.name}: {mark}")
    happened = {*recorded.pressed, *(each.mark for each in recorded.missing)}
    for one in recorded.inputs:
        if one.mark in happened - {*found} and not _is_marked(one, recorded):
            yield Violation(Broken.UNMARKED, f"{recorded.name}: {one}")


def _is_marked(missing: Input, recorded: Recorded) -> bool:
    """Whether there is a gap between those steps that were done before it and after it."""
    numbers = {each.mark: each.number for each in recorded.inputs}
    before = -1
    for index, step in enumerate(recorded.steps):
        number = next((numbers.get(mark) for mark in marks([step])), None)
        if number is not None and number > missing.number:
            return _has_gap(recorded.steps[before + 1 : index])
        if number is not None:
            before = index
    return _has_gap(recorded.steps[before + 1 :])


def _has_gap(steps: Steps) -> bool:
    return any(step["operation"] == GAP for step in steps)
